package import CRDT
import FoundationEssentials

/// What was said of who is on jobs, each statement as it is signed; in JSON in base 64.
package struct AssignmentList: Codable, Hashable, Sendable {
    /// One statement of one job.
    package struct Statement: Codable, Hashable, Sendable {
        /// What is signed (`Assignment` in CRDT).
        let content: String
        /// An Ed25519 signature, 64 bytes.
        let signature: String
        /// In DER: the signer's own and its issuer's.
        let certificates: [String]
    }

    /// `ChannelLimits.assignments` at most where a laptop brings them.
    package let assignments: [Statement]

    /// Takes statements as they are passed on.
    package init(_ statements: some Sequence<Assignment>) {
        assignments = statements.map { statement in
            Statement(
                content: Data(statement.content).base64EncodedString(),
                signature: Data(statement.signature).base64EncodedString(),
                certificates: statement.certificates.map { Data($0).base64EncodedString() })
        }
    }

    /// As they were put in; who has signed them is not looked at.
    ///
    /// - Throws: `MalformedMessage` when one cannot be read.
    package func statements() throws(MalformedMessage) -> [Assignment] {
        var statements: [Assignment] = []
        for one in assignments {
            let certificates = one.certificates.map { Data(base64Encoded: $0) }
            guard let content = Data(base64Encoded: one.content), let signature = Data(base64Encoded: one.signature),
                !certificates.contains(nil),
                let statement = try? Assignment(
                    content: [UInt8](content), signature: [UInt8](signature),
                    certificates: certificates.map { [UInt8]($0 ?? Data()) })
            else {
                throw MalformedMessage(
                    sentence: "What is said of who is on a job cannot be read; send it as a laptop has signed it.")
            }
            statements.append(statement)
        }
        return statements
    }
}
