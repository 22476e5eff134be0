#include <avahi-common/malloc.h>
#include <dns_sd.h>
#include <stdlib.h>

static inline void *muster_zeroed_malloc(size_t size) { return calloc(1, size); }

/// Makes avahi's libraries take their memory from calloc, in the whole process. Call it before anything else of them.
///
/// Up to avahi 0.8 (Debian 12) a DNSServiceRef is allocated without being cleared. When the daemon goes away, the library
/// looks through all callback pointers of a resolve or query reference and calls the first that is not null, set or not:
/// the process crashes. Fixed upstream after 0.8 ("libdns_sd: Use allocator with memory set to zero").
static inline void muster_clear_avahi_memory(void) {
    static const AvahiAllocator allocator = {muster_zeroed_malloc, free, realloc, calloc};
    avahi_set_allocator(&allocator);
}
