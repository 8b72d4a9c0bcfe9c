// The string formats that are enforced; all others are annotations, as the standard allows.
#pragma once

#include <string_view>

namespace longhand::grammar {

inline const char* format_pattern(std::string_view format) {
#define LONGHAND_DATE \
  "[0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))"
#define LONGHAND_TIME "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,6})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
#define LONGHAND_HOST "[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?){0,4}"
#define LONGHAND_BYTE "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
  if (format == "date") return LONGHAND_DATE;
  if (format == "time") return LONGHAND_TIME;
  if (format == "date-time") return LONGHAND_DATE "T" LONGHAND_TIME;
  if (format == "uuid") return "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
  if (format == "ipv4") return LONGHAND_BYTE "\\." LONGHAND_BYTE "\\." LONGHAND_BYTE "\\." LONGHAND_BYTE;
  if (format == "hostname") return LONGHAND_HOST;
  if (format == "email")
    return "[A-Za-z0-9_+-]{1,30}(\\.[A-Za-z0-9_+-]{1,30}){0,3}@[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?(\\.[a-z][a-z0-9]{1,"
           "20}){1,3}";
  if (format == "uri")
    return "https?://" LONGHAND_HOST "(:[1-9][0-9]{0,3})?(/[A-Za-z0-9_.~-]{0,60}){0,10}(\\?[A-Za-z0-9_.~=&-]{0,200})?";
#undef LONGHAND_DATE
#undef LONGHAND_TIME
#undef LONGHAND_HOST
#undef LONGHAND_BYTE
  return nullptr;
}

}  // namespace longhand::grammar
