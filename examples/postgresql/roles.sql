-- Who may do what with a store on a server of PostgreSQL (docs/how-to/share-a-store.md). Run it once, in the database of
-- the store, as a user who may make roles, before or after the first import:
--
--   psql -v ON_ERROR_STOP=1 -f roles.sql postgresql://HOST/DATABASE
--
-- Then give people and machines a login of their own: CREATE ROLE lab7 LOGIN PASSWORD '…' IN ROLE opwright_write;

DO $$
BEGIN
  CREATE ROLE opwright_read NOLOGIN;
EXCEPTION WHEN duplicate_object THEN NULL;
END $$;
DO $$
BEGIN
  CREATE ROLE opwright_write NOLOGIN;
EXCEPTION WHEN duplicate_object THEN NULL;
END $$;
DO $$
BEGIN
  CREATE ROLE opwright_admin NOLOGIN;
EXCEPTION WHEN duplicate_object THEN NULL;
END $$;

-- Each may all that the one before it may.
GRANT opwright_read TO opwright_write;
GRANT opwright_write TO opwright_admin;

CREATE SCHEMA IF NOT EXISTS opwright;
-- The admin makes the tables and brings them up to date: they are his, and so is the schema, whoever of his members does it.
ALTER SCHEMA opwright OWNER TO opwright_admin;
DO $$
DECLARE one record;
BEGIN
  FOR one IN SELECT tablename FROM pg_tables WHERE schemaname = 'opwright' LOOP
    EXECUTE format('ALTER TABLE opwright.%I OWNER TO opwright_admin', one.tablename);
  END LOOP;
END $$;

-- read: ops, show, stats, export, results, report
GRANT USAGE ON SCHEMA opwright TO opwright_read;
GRANT SELECT ON ALL TABLES IN SCHEMA opwright TO opwright_read;
-- write: import, run, forget, as well
GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA opwright TO opwright_write;
-- The same of tables that a later version adds.
ALTER DEFAULT PRIVILEGES FOR ROLE opwright_admin IN SCHEMA opwright GRANT SELECT ON TABLES TO opwright_read;
ALTER DEFAULT PRIVILEGES FOR ROLE opwright_admin IN SCHEMA opwright GRANT INSERT, UPDATE, DELETE ON TABLES TO opwright_write;
