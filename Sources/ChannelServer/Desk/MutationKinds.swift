import CRDT
import FoundationEssentials
import Inventory
import LocalAPI

/// The kinds of requests that this server knows, and how their payloads are read.
enum MutationKinds {
    /// What a payload says.
    enum Wish: Hashable, Sendable {
        case open(OpenJob)
        case advance(AdvanceState)
        case signOff(SignOff)
    }

    /// `openJob`
    struct OpenJob: Codable, Hashable, Sendable {
        var name: String
        var kind: JobKind?
    }

    /// `advanceState`
    struct AdvanceState: Codable, Hashable, Sendable {
        var state: String
    }

    /// `signOff`: what the customer was shown and who signed.
    struct SignOff: Codable, Hashable, Sendable {
        var name: String
        /// SHA-256 of the canonical export, 64 hexadecimal digits.
        var digest: String
    }

    /// What is published of a signature.
    struct Signature: Codable, Hashable, Sendable {
        var name: String
        var digest: String
        /// Of what the server held at that moment; null when it held nothing of the job.
        @Nullable var serverDigest: String?
        var at: Timestamp
    }

    /// Why a payload cannot be carried out, ever.
    struct Flaw: Error, Hashable, Sendable {
        let sentence: String
    }

    static func command(of request: MutationRequest) -> Result<Wish, Flaw> {
        switch request.kind {
        case "openJob":
            read(request) { wish in
                (1...ChangeLimits.valueBytes).contains(wish.name.utf8.count)
                    ? .success(.open(wish))
                    : .failure(Flaw(sentence: "A job has a name of 1 byte to 64 KiB; give one."))
            }
        case "advanceState":
            read(request) { (wish: AdvanceState) in
                PublishedJobState(rawValue: wish.state) != nil
                    ? .success(.advance(wish))
                    : .failure(
                        Flaw(
                            sentence:
                                "'\(wish.state.prefix(40))' is no state; the states are \(PublishedJobState.allCases.map(\.rawValue).joined(separator: ", "))."
                        ))
            }
        case "signOff":
            read(request) { (wish: SignOff) in
                let isDigest = wish.digest.utf8.count == 64 && wish.digest.allSatisfy(\.isHexDigit)
                return isDigest && (1...1_024).contains(wish.name.utf8.count)
                    ? .success(.signOff(wish))
                    : .failure(Flaw(sentence: "A signature has a name of at most 1 KiB and a digest of 64 digits."))
            }
        default:
            .failure(Flaw(sentence: "This server does not know the kind '\(request.kind)'; it may have to be updated."))
        }
    }

    static func reason(_ command: Result<Wish, Flaw>) -> String {
        if case .failure(let flaw) = command { flaw.sentence } else { "" }
    }

    private static func read<Payload: Decodable>(
        _ request: MutationRequest, _ check: (Payload) -> Result<Wish, Flaw>
    ) -> Result<Wish, Flaw> {
        do {
            return check(try JSON.decode(Payload.self, from: request.payload))
        } catch let error as DecodingError {
            return .failure(Flaw(sentence: "The payload is not one of \(request.kind): \(error.summary)."))
        } catch {
            return .failure(Flaw(sentence: "The payload is not JSON."))
        }
    }
}

extension MutationKinds.Wish {
    func command(serverDigest: String?, at microseconds: Int64) -> JobCommand {
        switch self {
        case .open(let wish): return .open(name: wish.name, kind: wish.kind ?? .inventory)
        // Read already: the name is one of the states.
        case .advance(let wish): return .advance(to: PublishedJobState(rawValue: wish.state) ?? .scheduled)
        case .signOff(let wish):
            let signature = MutationKinds.Signature(
                name: wish.name, digest: wish.digest.lowercased(), serverDigest: serverDigest,
                at: Timestamp(milliseconds: microseconds / 1_000))
            let bytes = (try? JSON.encode(signature)) ?? []
            return .signOff(signature: String(decoding: bytes, as: UTF8.self))
        }
    }
}
