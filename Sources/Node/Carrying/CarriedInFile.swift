import CRDT
import Engine
import Identity
import LocalAPI
import Replication
import Transport
import WireFormat

/// Takes a carried file in while it comes. What stands before a damage is taken as over a link that broke off there.
actor CarriedInFile {
    private let service: InventoryService
    private var opener: CarriedOpener
    private var messages = RecordedMessages()
    /// Who has written it, once that is shown.
    private var writer: DeviceID?
    private var name = ""
    private var link: LinkID?
    /// Why nothing more is read, and whether that is the file's fault.
    private var stop: CarryStop?
    /// The file is not for this laptop, or not of this fleet: nothing of it is looked at.
    private var refusal: String?

    init(_ service: InventoryService) {
        self.service = service
        opener = CarriedOpener(service.fleet.key)
    }

    /// More of it has come; returns when that is taken in, so that no more lies in memory. After something that ends the reading the rest is passed over: whoever sends it hears the answer when all was sent.
    func add(_ bytes: [UInt8]) async {
        guard stop == nil, refusal == nil else { return }
        opener.add(bytes)
        do {
            while stop == nil, refusal == nil, let piece = try opener.next() { try await take(piece) }
        } catch let fault as CarriedFault {
            note(fault.sentence)
        } catch let error as CarryStop {
            stop = error
        } catch {
            note("The file cannot be read on (\(error)); carry out again.")
        }
    }

    /// All of it has come. Throws `invalidValue` where nothing of it could be looked at.
    func finish() async throws -> CarryReport {
        if stop == nil, refusal == nil {
            do throws(CarriedFault) { try opener.finish() } catch { note(error.sentence) }
            if stop == nil, !messages.isAtEnd { note(CarriedFault.damaged.sentence) }
        }
        guard let link, let writer else {
            throw APIError(.invalidValue, refusal ?? stop?.sentence ?? CarriedFault.noCarriedFile.sentence)
        }
        let (report, failure) = await service.replicator.endCarried(link)
        let problem = stop ?? failure
        var jobs: [CarriedJobReport] = []
        for (job, came) in report.jobs.sorted(by: { $0.key < $1.key }) where !came.isEmpty {
            jobs.append(await service.report(on: came, of: job))
        }
        return CarryReport(
            deviceID: writer.description, name: name, isWhole: problem == nil, problem: problem?.sentence,
            isOwnProblem: problem?.isOwn ?? false, words: report.words,
            changes: jobs.reduce(0) { $0 + $1.changes }, jobs: jobs)
    }

    private func note(_ sentence: String) {
        if link == nil { refusal = sentence } else { stop = CarryStop(sentence: sentence) }
    }

    private func take(_ piece: [UInt8]) async throws {
        guard writer != nil else { return try await greet(piece) }
        messages.add(piece)
        while let message = try messages.next() {
            if let link {
                try await service.replicator.takeCarried(message, on: link)
            } else {
                try await begin(message)
            }
        }
    }

    /// Who has written the file is let in, or not, as who shows this on a connection (`LinkSecurity`).
    private func greet(_ piece: [UInt8]) async throws {
        guard let greeting = CarriedGreeting(piece) else { throw CarriedFault.damaged }
        let device: DeviceID
        do throws(LinkRefusal) { device = try await service.fleet.admit(greeting.chain) } catch {
            refusal = "What another laptop has carried out is not taken. \(error.description)"
            return
        }
        guard let key = greeting.chain.first.flatMap({ try? FleetCertificate($0) })?.key, key.device == device,
            opener.isSigned(greeting.signature, by: key)
        else {
            refusal = "Who has written the file is not shown by it; carry out again."
            return
        }
        writer = device
    }

    private func begin(_ message: Message) async throws {
        guard case .hello(let hello) = message, hello.device == writer else { throw CarriedFault.damaged }
        do throws(CarryStop) { link = try await service.replicator.beginCarried(from: hello) } catch {
            refusal = error.sentence
        }
        name = hello.name
    }
}
