"""Ground truth of the real library for `opwright device conform`: what it accepts, refuses and infers.

    opwright export --to jsonl -o export.jsonl && python -m opwright.oracle calls export.jsonl > calls.jsonl
    opwright mock --board n150 -- python -m opwright.oracle run calls.jsonl -o oracle.jsonl
    python -m opwright.oracle mutate oracle.jsonl --count 500 --seed 7 > more-calls.jsonl

Grammar of calls and records: docs/formats/oracle.md.
"""
