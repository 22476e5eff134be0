// zstd(1), which Swift does not bring along.
#include <zstd.h>
