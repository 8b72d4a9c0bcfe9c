// glibc's for the host's processor would say 32 for another one.
#pragma once
#define __WORDSIZE 64
#define __WORDSIZE_TIME64_COMPAT32 0
