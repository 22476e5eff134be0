import Foundation
import HTTPCoding
import HTTPTypes
import Identity
import ServerChannel

/// What a proxy in front of the server says of who has connected to it.
enum ProxyHeaders {
    /// The certificate whose key TLS has proved: PEM, percent-encoded, as nginx writes `$ssl_client_escaped_cert`. The proxy
    /// has to set it on every request, to nothing where there is none: else whoever asks could write it.
    static let certificate = "X-Client-Cert"

    private static let mostBehind = 4

    /// The caller's chain, unread: `CallerCheck` knows it again by its bytes, and most requests ask for no more. The certificates behind
    /// the first, which proxies do not pass on, the laptop adds itself: they are no secret.
    static func chain(in headers: HTTPFields) -> [[UInt8]] {
        guard let name = HTTPField.Name(certificate), headers[values: name].count == 1, let escaped = headers[name],
            let pem = PercentCoding.decode(escaped[...]), let own = try? FleetCertificate.allBytes(inPEM: pem),
            own.count == 1,
            let issuerName = HTTPField.Name(ChannelHeader.issuer), let text = headers[issuerName]
        else { return [] }
        let texts = text.split(separator: ",", omittingEmptySubsequences: false)
        let behind = texts.compactMap { Data(base64Encoded: String($0)).map { Array($0) } }
        return behind.count == texts.count && behind.count <= mostBehind ? own + behind : []
    }
}
