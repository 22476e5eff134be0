import HTTPCoding
import Hummingbird
import LocalAPI
import NIOCore

/// Server-sent events (WHATWG HTML, section 9.2).
enum EventStream {
    /// Writes events until the caller goes or the stream ends, as it does when the daemon stops.
    ///
    /// The comment now and then is for whoever reads through something that gives quiet connections up; on the socket itself the
    /// kernel tells both ends when the other is gone. The stream is read as it is: merged with anything, each event would go
    /// through two threads more.
    static func answer(
        _ events: EventSubscription, for request: Request, heartbeat: Duration
    ) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: ResponseBody { writer in
                // The comment sends the head, so that the caller knows that it is subscribed.
                try await writer.write(ByteBuffer(string: ": subscribed\n\n"))
                let beating = Task {
                    while true {
                        try await Task.sleep(for: heartbeat)
                        events.beat()
                    }
                }
                defer { beating.cancel() }
                try await request.body.consumeWithCancellationOnInboundClose { _ in
                    while let next = await events.next() {
                        try await writer.write(ByteBuffer(bytes: try encode(next)))
                    }
                }
                try await writer.finish(nil)
            })
    }

    static func encode(_ next: EventSubscription.Next) throws -> [UInt8] {
        switch next {
        case .heartbeat: Array(": nothing new\n\n".utf8)
        case .event(let sent):
            Array("id: \(sent.id)\nevent: \(sent.event.type)\ndata: ".utf8) + (try JSON.encode(sent.event))
                + Array("\n\n".utf8)
        }
    }
}
