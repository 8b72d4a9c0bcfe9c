// Darwin keeps newlocale and strtod_l here, glibc in locale.h and stdlib.h.
#pragma once
#include <locale.h>
#include <stdlib.h>
