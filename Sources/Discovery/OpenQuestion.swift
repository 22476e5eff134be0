internal import CDNSSD
import Dispatch

/// One open question: its DNSServiceRef, the source that says when an answer can be read, and the answers.
///
/// Avahi's library keeps a thread and a connection to the system bus per question, both asleep until something happens.
struct OpenQuestion {
    let reference: DNSServiceRef
    let source: any DispatchSourceRead
    let callbacks: CallbackQueue

    /// Lets the library read what has come. Returns the answers; the last is a failure when the question is dead.
    func readAnswers() -> [Answer] {
        let code = muster_process_result(reference)
        let answers = callbacks.empty()
        return code == 0 ? answers : answers + [.failed(code: code)]
    }
}

extension Query {
    /// Puts the question to avahi's dns_sd.h. The code is one of those there, and there is no reference unless it is 0.
    ///
    /// - Parameter hostName: at which the service is.
    func put(
        advertisement: Advertisement?, hostName: String, callbacks: CallbackQueue
    ) -> (reference: DNSServiceRef?, code: Int32) {
        var reference: DNSServiceRef?
        let type = Advertisement.serviceType
        let context = callbacks.context
        let code: Int32
        switch self {
        // AddressPublisher's.
        case .publish: return (nil, ErrorCode.unknown)
        case .advertise(let instanceName):
            guard let advertisement else { return (nil, ErrorCode.unknown) }
            let txtRecord = advertisement.txtRecord
            code = muster_register(
                &reference, 0, 0, instanceName, type, nil, hostName, advertisement.port.bigEndian,
                UInt16(txtRecord.count), txtRecord, CallbackQueue.onRegister, context)
        case .browse:
            code = muster_browse(&reference, 0, 0, type, nil, CallbackQueue.onBrowse, context)
        case .resolve(let instanceName, let domain, let interface):
            code = muster_resolve(
                &reference, 0, interface, instanceName, type, domain, CallbackQueue.onResolve, context)
        case .addresses(let host, let family):
            let recordType = family == .ipv4 ? kDNSServiceType_A : kDNSServiceType_AAAA
            code = muster_query_record(
                &reference, 0, 0, host, UInt16(recordType), UInt16(kDNSServiceClass_IN), CallbackQueue.onRecord, context
            )
        }
        guard code == 0, reference != nil else { return (nil, code == 0 ? ErrorCode.unknown : code) }
        return (reference, 0)
    }
}
