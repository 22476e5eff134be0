import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix

/// A connection to a daemon's Unix socket, for one request and its answer.
///
/// It is closed when the answer has ended, when the reader's task is cancelled, and when nobody holds it any more.
final class LocalConnection: Sendable {
    enum Part: Sendable {
        case head(HTTPResponseHead)
        case body(ByteBuffer)
    }

    /// So long a daemon may say and take nothing before it counts as stuck: twice as long as one that tells events is ever silent, and
    /// longer than the slowest disk of a field laptop makes anybody wait.
    static let patienceSeconds = 30

    private let channel: any Channel
    private let handler: NIOLoopBound<AnswerHandler>

    private init(_ channel: any Channel, _ handler: AnswerHandler) {
        self.channel = channel
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
    }

    deinit { channel.close(promise: nil) }

    /// Sends a request and waits for the beginning of its answer.
    ///
    /// - Parameter timeoutSeconds: so long the daemon may keep a reader waiting, or a piece of a request; what the reader itself takes does
    ///   not count, nor what it takes to read the next piece.
    static func answer(
        to request: LocalRequest, at socketPath: String, timeoutSeconds: Int
    ) async throws -> LocalAnswer {
        let connection = try await open(socketPath, timeoutSeconds: timeoutSeconds)
        // Before anything is sent: where the daemon refuses the beginning and goes away, its answer is read although writing fails.
        let beginning = connection.ask()
        let sending = connection.send(request)
        // Whatever is left of a request that is answered already is of no use.
        defer { sending?.cancel() }
        guard case .head(let head) = try await connection.part(beginning) else { throw ConnectionError.unanswered }
        return LocalAnswer(status: head.status, headers: head.headers, body: LocalAnswer.Body(connection: connection))
    }

    private static func open(_ path: String, timeoutSeconds: Int) async throws -> LocalConnection {
        do {
            return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelOption(.autoRead, value: false)
                .connectTimeout(.seconds(Int64(min(5, timeoutSeconds))))
                .connect(unixDomainSocketPath: path) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let handler = AnswerHandler(silenceSeconds: timeoutSeconds)
                        try channel.pipeline.syncOperations.addHTTPClientHandlers()
                        try channel.pipeline.syncOperations.addHandler(handler)
                        return LocalConnection(channel, handler)
                    }
                }
        } catch ChannelError.connectTimeout {
            throw ConnectionError.notTaken
        } catch let error as IOError where error.errnoCode == EAGAIN {
            // As many wait already as the daemon lets wait (unix(7)).
            throw ConnectionError.notTaken
        } catch let error as IOError {
            throw ConnectionError.notOpened(errno: error.errnoCode, reason: String(cString: strerror(error.errnoCode)))
        } catch SocketAddressError.unixDomainSocketPathTooLong {
            throw ConnectionError.notOpened(errno: nil, reason: "its path is longer than a socket's can be")
        }
    }

    /// - Returns: what goes on with the pieces of the body; nil where the request has gone out as a whole.
    private func send(_ request: LocalRequest) -> Task<Void, Never>? {
        channel.write(HTTPClientRequestPart.head(request.head), promise: nil)
        switch request.body {
        case .none: break
        case .bytes(let bytes): channel.write(HTTPClientRequestPart.body(.byteBuffer(bytes)), promise: nil)
        case .pieces(let next):
            channel.flush()
            // Without this object, which a reader of a pipe would hold for as long as nobody writes.
            return Task { [channel, handler] in
                do {
                    while let piece = try await next() {
                        try Task.checkCancellation()
                        let part = HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(bytes: piece)))
                        // Whether there is room for it is up to the daemon.
                        channel.eventLoop.execute { handler.value.waits(true, atMost: Self.patienceSeconds) }
                        try await channel.writeAndFlush(part)
                        channel.eventLoop.execute { handler.value.waits(false) }
                    }
                    Self.finish(channel, handler)
                } catch {
                    // What was answered meanwhile is still being read.
                    guard !Task.isCancelled else { return }
                    channel.eventLoop.execute { handler.value.end(because: error) }
                }
            }
        }
        Self.finish(channel, handler)
        return nil
    }

    private static func finish(_ channel: any Channel, _ handler: NIOLoopBound<AnswerHandler>) {
        channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
        channel.eventLoop.execute { handler.value.waits(true) }
    }

    /// The next part of the answer; nil at its end.
    func next() async throws -> Part? { try await part(ask()) }

    private func ask() -> EventLoopFuture<Part?> {
        let promise = channel.eventLoop.makePromise(of: Part?.self)
        channel.eventLoop.execute { [handler] in handler.value.ask(promise) }
        return promise.futureResult
    }

    private func part(_ asked: EventLoopFuture<Part?>) async throws -> Part? {
        try await withTaskCancellationHandler {
            try await asked.get()
        } onCancel: {
            channel.eventLoop.execute { [handler] in handler.value.end(because: CancellationError()) }
        }
    }
}

/// The end of the channel: carries out what the machine says, and knows how long the daemon has kept somebody waiting.
private final class AnswerHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let silenceSeconds: Int
    private var machine = AnswerMachine<LocalConnection.Part>()
    /// It has the whole request, or needs no more of it, or has a piece to take: time in which nothing comes is its own.
    private var isDaemonsTurn = false
    private var waiter: EventLoopPromise<LocalConnection.Part?>?
    private var silence: Scheduled<Void>?
    private var context: ChannelHandlerContext?
    private var hasAnswered = false

    init(silenceSeconds: Int) { self.silenceSeconds = silenceSeconds }

    func ask(_ promise: EventLoopPromise<LocalConnection.Part?>) {
        guard waiter == nil else { return promise.fail(ConnectionError.readTwice) }
        waiter = promise
        carryOut(machine.ask())
        watchForSilence()
    }

    /// Whether what goes out is the daemon's to take and to answer now, or the next of it has still to be read.
    ///
    /// - Parameter mostSeconds: to take a piece does not last as long as to work through the whole.
    func waits(_ isDaemonsTurn: Bool, atMost mostSeconds: Int = .max) {
        guard !hasAnswered else { return }
        self.isDaemonsTurn = isDaemonsTurn
        endSilence()
        watchForSilence(atMost: mostSeconds)
    }

    /// Tells what has come, then the reason, and closes the connection.
    func end(because error: any Error) {
        carryOut(machine.end(because: error))
        context?.close(promise: nil)
    }

    private func watchForSilence(atMost mostSeconds: Int = .max) {
        guard isDaemonsTurn, waiter != nil, silence == nil, let context else { return }
        let seconds = min(silenceSeconds, mostSeconds)
        silence = context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(Int64(seconds))) {
            self.end(because: ConnectionError.silent(seconds: seconds))
        }
    }

    private func endSilence() {
        silence?.cancel()
        silence = nil
    }

    private func carryOut(_ directive: AnswerMachine<LocalConnection.Part>.Directive) {
        switch directive {
        case .nothing: break
        case .read: context?.read()
        case .hand(let result):
            endSilence()
            let promise = waiter
            waiter = nil
            promise?.completeWith(result)
        }
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        carryOut(machine.end(because: ConnectionError.unanswered))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            hasAnswered = true
            isDaemonsTurn = true
            // The end of the connection would be the end of it then, whatever ended that (RFC 9112, section 6.3).
            guard
                !head.status.mayHaveResponseBody || head.headers.contains(name: "Content-Length")
                    || head.headers.contains(name: "Transfer-Encoding")
            else {
                return end(because: ConnectionError.notHTTP("nobody can tell where its answer ends"))
            }
            carryOut(machine.came(.head(head)))
        case .body(let piece): carryOut(machine.came(.body(piece)))
        case .end:
            carryOut(machine.end())
            context.close(promise: nil)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) { carryOut(machine.readCompleted()) }

    func channelInactive(context: ChannelHandlerContext) {
        end(because: hasAnswered ? ConnectionError.cutOff : .unanswered)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error as? HTTPParserError {
        case nil: end(because: error)
        case .invalidEOFState?: end(because: hasAnswered ? ConnectionError.cutOff : .unanswered)
        case let error?: end(because: ConnectionError.notHTTP("\(error)"))
        }
    }
}

/// What became of a connection, apart from what the system says of it.
enum ConnectionError: Error, Equatable, CustomStringConvertible {
    /// It was never accepted.
    case notTaken
    /// It was never there; without a number of the system's where there cannot be one.
    case notOpened(errno: CInt?, reason: String)
    /// The daemon kept a reader waiting for too long.
    case silent(seconds: Int)
    case unanswered
    case cutOff
    case notHTTP(String)
    /// By two at the same time.
    case readTwice

    var description: String {
        switch self {
        case .notTaken: "it was not accepted"
        case .notOpened(_, let reason): reason
        case .silent: "nothing came"
        case .unanswered: "it was closed without an answer"
        case .cutOff: "the answer ended too early"
        case .notHTTP(let reason): "what came is no HTTP: \(reason)"
        case .readTwice: "two read the same answer"
        }
    }
}
