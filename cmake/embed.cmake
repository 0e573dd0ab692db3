# Writes the bytes of INPUT as a string_view called SYMBOL into OUTPUT.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," list "${bytes}")
file(WRITE ${OUTPUT} "#include <string_view>
namespace opwright::embedded {
static constexpr char bytes[] = {${list}0};
extern const std::string_view ${SYMBOL};
const std::string_view ${SYMBOL}(bytes, sizeof bytes - 1);
}  // namespace opwright::embedded
")
