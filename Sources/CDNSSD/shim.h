#include <avahi-client/client.h>
#include <avahi-client/publish.h>
#include <avahi-common/error.h>
#include <avahi-common/malloc.h>
#include <avahi-common/thread-watch.h>
#include <dlfcn.h>
#include <dns_sd.h>
#include <stdlib.h>
#include <string.h>

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

// Addresses of a name of our own: avahi's dns_sd.h has DNSServiceRegisterRecord and does not support it, its own client does. The
// dns_sd library stands on that one, so these functions are found through it.

#define MUSTER_AVAHI(name) ((__typeof__(&name))muster_avahi(#name))

/// A connection to avahi-daemon, and the thread that hears when it ends.
struct muster_client {
    AvahiThreadedPoll *poll;
    AvahiClient *client;
};

/// Returns 0, or a code of avahi-common/error.h; nothing is open then. The callback comes on the client's thread, the first time on
/// the caller's.
static inline int muster_client_open(struct muster_client *opened, AvahiClientCallback callback, void *context) {
    if (!muster_avahi("avahi_client_new")) return AVAHI_ERR_NOT_SUPPORTED;
    opened->poll = MUSTER_AVAHI(avahi_threaded_poll_new)();
    if (!opened->poll) return AVAHI_ERR_NO_MEMORY;
    int error = AVAHI_ERR_FAILURE;
    const AvahiPoll *poll = MUSTER_AVAHI(avahi_threaded_poll_get)(opened->poll);
    opened->client = MUSTER_AVAHI(avahi_client_new)(poll, 0, callback, context, &error);
    if (opened->client && MUSTER_AVAHI(avahi_threaded_poll_start)(opened->poll) == 0) return 0;
    if (opened->client) MUSTER_AVAHI(avahi_client_free)(opened->client);
    MUSTER_AVAHI(avahi_threaded_poll_free)(opened->poll);
    return error;
}

/// Takes back all that was published. No callback comes any more.
static inline void muster_client_close(const struct muster_client *client) {
    MUSTER_AVAHI(avahi_threaded_poll_stop)(client->poll);
    MUSTER_AVAHI(avahi_client_free)(client->client);
    MUSTER_AVAHI(avahi_threaded_poll_free)(client->poll);
}

/// Publishes one address of a name, of 4 or 16 bytes, on one interface; null with a code when avahi refuses.
static inline AvahiEntryGroup *muster_publish(
    const struct muster_client *client, AvahiIfIndex interface, const char *name, const void *bytes, size_t length, int *error) {
    AvahiAddress address;
    address.proto = length == sizeof(AvahiIPv4Address) ? AVAHI_PROTO_INET : AVAHI_PROTO_INET6;
    memcpy(&address.data, bytes, length);
    // Nobody else has the name, so nobody is asked for it first: that takes 0.75 seconds (RFC 6762 section 8.1). And whoever says
    // that it is theirs is answered by the record once more; after a probe avahi would give it up.
    AvahiPublishFlags flags = (AvahiPublishFlags)(AVAHI_PUBLISH_NO_REVERSE | AVAHI_PUBLISH_NO_PROBE);
    MUSTER_AVAHI(avahi_threaded_poll_lock)(client->poll);
    AvahiEntryGroup *group = MUSTER_AVAHI(avahi_entry_group_new)(client->client, NULL, NULL);
    *error = group ? MUSTER_AVAHI(avahi_entry_group_add_address)(group, interface, AVAHI_PROTO_UNSPEC, flags, name, &address)
                   : MUSTER_AVAHI(avahi_client_errno)(client->client);
    if (group && *error == 0) *error = MUSTER_AVAHI(avahi_entry_group_commit)(group);
    if (group && *error != 0) {
        MUSTER_AVAHI(avahi_entry_group_free)(group);
        group = NULL;
    }
    MUSTER_AVAHI(avahi_threaded_poll_unlock)(client->poll);
    return group;
}

static inline void muster_withdraw(const struct muster_client *client, AvahiEntryGroup *group) {
    MUSTER_AVAHI(avahi_threaded_poll_lock)(client->poll);
    MUSTER_AVAHI(avahi_entry_group_free)(group);
    MUSTER_AVAHI(avahi_threaded_poll_unlock)(client->poll);
}
