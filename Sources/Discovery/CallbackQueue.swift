internal import CDNSSD

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Where the C callbacks of one question leave their answers.
///
/// They arrive inside DNSServiceProcessResult (or DNSServiceRegister and the like), where the question must not be
/// closed: so they are put down here, and acted upon when that call has returned.
final class CallbackQueue {
    private var answers: [Answer] = []

    /// The answers since the last call.
    func empty() -> [Answer] {
        defer { answers = [] }
        return answers
    }

    /// The pointer to hand to C. The queue must outlive the question.
    var context: UnsafeMutableRawPointer {
        Unmanaged.passUnretained(self).toOpaque()
    }

    private static func put(_ answer: Answer?, into context: UnsafeMutableRawPointer?) {
        guard let answer, let context else { return }
        Unmanaged<CallbackQueue>.fromOpaque(context).takeUnretainedValue().answers.append(answer)
    }

    // MARK: Callbacks

    static let onRegister: DNSServiceRegisterReply = { _, _, code, name, _, _, context in
        guard code == 0 else { return put(.failed(code: code), into: context) }
        put(name.map { .advertised(instanceName: String(cString: $0)) }, into: context)
    }

    static let onBrowse: DNSServiceBrowseReply = { _, flags, interface, code, name, _, domain, context in
        guard code == 0 else { return put(.failed(code: code), into: context) }
        guard let name, let domain else { return }
        let instanceName = String(cString: name)
        let isThere = flags & DNSServiceFlags(kDNSServiceFlagsAdd) != 0
        let answer =
            isThere
            ? Answer.appeared(instanceName: instanceName, domain: String(cString: domain), interface: interface)
            : Answer.disappeared(instanceName: instanceName, interface: interface)
        put(answer, into: context)
    }

    static let onResolve: DNSServiceResolveReply = { _, _, _, code, _, host, port, txtLength, txt, context in
        guard code == 0 else { return put(.failed(code: code), into: context) }
        guard let host else { return }
        let txtRecord = Array(UnsafeBufferPointer(start: txt, count: txt == nil ? 0 : Int(txtLength)))
        put(
            .resolved(host: String(cString: host), port: UInt16(bigEndian: port), txtRecord: txtRecord), into: context)
    }

    static let onRecord: DNSServiceQueryRecordReply = {
        _, flags, interface, code, _, type, _, length, data, _, context in
        guard code == 0 else { return put(.failed(code: code), into: context) }
        guard let address = numericAddress(data, length: Int(length), recordType: type) else { return }
        let isThere = flags & DNSServiceFlags(kDNSServiceFlagsAdd) != 0
        let answer =
            isThere
            ? Answer.addressAdded(address, interface: interface, interfaceName: interfaceName(interface))
            : Answer.addressRemoved(address, interface: interface)
        put(answer, into: context)
    }

    // MARK: Addresses

    /// The text of an A or AAAA record's data; nil for anything else.
    private static func numericAddress(_ data: UnsafeRawPointer?, length: Int, recordType: UInt16) -> String? {
        let family: Int32
        switch (Int(recordType), length) {
        case (Int(kDNSServiceType_A), 4): family = AF_INET
        case (Int(kDNSServiceType_AAAA), 16): family = AF_INET6
        default: return nil
        }
        guard let data else { return nil }
        let capacity = Int(INET6_ADDRSTRLEN)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: capacity) { text in
            guard let start = inet_ntop(family, data, text.baseAddress, socklen_t(capacity)) else { return nil }
            return String(cString: start)
        }
    }

    /// The name of an interface; its number when it has gone in the meantime.
    private static func interfaceName(_ index: UInt32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(IF_NAMESIZE)) { text in
            guard let start = if_indextoname(index, text.baseAddress) else { return String(index) }
            return String(cString: start)
        }
    }
}
