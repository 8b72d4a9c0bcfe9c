// glibc asks which of its functions do nothing on the host's processor.
#pragma once
