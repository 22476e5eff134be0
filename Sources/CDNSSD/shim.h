#include <avahi-common/malloc.h>
#include <dlfcn.h>
#include <dns_sd.h>
#include <stdlib.h>

// The library is opened when it is first used and not when the program starts: a server has no use for it but while it looks for
// its inviter, and has to run on machines that lack it. There each question fails as it does without the daemon.

static inline void *muster_zeroed_malloc(size_t size) { return calloc(1, size); }

/// A function of avahi's dns_sd library; null where it is not installed.
///
/// Avahi's libraries are made to take their memory from calloc, in the whole process. Up to avahi 0.8 (Debian 12) a
/// DNSServiceRef is allocated without being cleared. When the daemon goes away, the library looks through all callback pointers
/// of a resolve or query reference and calls the first that is not null, set or not: the process crashes. Fixed upstream after
/// 0.8 ("libdns_sd: Use allocator with memory set to zero").
static inline void *muster_avahi(const char *name) {
    static const AvahiAllocator allocator = {muster_zeroed_malloc, free, realloc, calloc};
    // What is open already is only counted.
    void *library = dlopen("libdns_sd.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return NULL;
    __typeof__(&avahi_set_allocator) set_allocator =
        (__typeof__(set_allocator))dlsym(library, "avahi_set_allocator");
    if (set_allocator) set_allocator(&allocator);
    return dlsym(library, name);
}

static inline DNSServiceErrorType muster_register(
    DNSServiceRef *reference, DNSServiceFlags flags, uint32_t interface, const char *name, const char *type,
    const char *domain, const char *host, uint16_t port, uint16_t length, const void *txt, DNSServiceRegisterReply reply,
    void *context) {
    __typeof__(&DNSServiceRegister) call = (__typeof__(call))muster_avahi("DNSServiceRegister");
    if (!call) return kDNSServiceErr_Unsupported;
    return call(reference, flags, interface, name, type, domain, host, port, length, txt, reply, context);
}

static inline DNSServiceErrorType muster_browse(
    DNSServiceRef *reference, DNSServiceFlags flags, uint32_t interface, const char *type, const char *domain,
    DNSServiceBrowseReply reply, void *context) {
    __typeof__(&DNSServiceBrowse) call = (__typeof__(call))muster_avahi("DNSServiceBrowse");
    return call ? call(reference, flags, interface, type, domain, reply, context) : kDNSServiceErr_Unsupported;
}

static inline DNSServiceErrorType muster_resolve(
    DNSServiceRef *reference, DNSServiceFlags flags, uint32_t interface, const char *name, const char *type,
    const char *domain, DNSServiceResolveReply reply, void *context) {
    __typeof__(&DNSServiceResolve) call = (__typeof__(call))muster_avahi("DNSServiceResolve");
    return call ? call(reference, flags, interface, name, type, domain, reply, context) : kDNSServiceErr_Unsupported;
}

static inline DNSServiceErrorType muster_query_record(
    DNSServiceRef *reference, DNSServiceFlags flags, uint32_t interface, const char *name, uint16_t type, uint16_t class,
    DNSServiceQueryRecordReply reply, void *context) {
    __typeof__(&DNSServiceQueryRecord) call = (__typeof__(call))muster_avahi("DNSServiceQueryRecord");
    return call ? call(reference, flags, interface, name, type, class, reply, context) : kDNSServiceErr_Unsupported;
}

static inline DNSServiceErrorType muster_process_result(DNSServiceRef reference) {
    __typeof__(&DNSServiceProcessResult) call = (__typeof__(call))muster_avahi("DNSServiceProcessResult");
    return call ? call(reference) : kDNSServiceErr_Unsupported;
}

static inline int muster_socket_of(DNSServiceRef reference) {
    __typeof__(&DNSServiceRefSockFD) call = (__typeof__(call))muster_avahi("DNSServiceRefSockFD");
    return call ? call(reference) : -1;
}

static inline void muster_deallocate(DNSServiceRef reference) {
    __typeof__(&DNSServiceRefDeallocate) call = (__typeof__(call))muster_avahi("DNSServiceRefDeallocate");
    if (call) call(reference);
}
