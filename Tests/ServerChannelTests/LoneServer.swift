import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

@testable import ServerChannel

/// What every answer of a Muster server has.
let timeHeaders: HTTPHeaders = [
    ChannelHeader.received: "1780000000000000", ChannelHeader.answered: "1780000000000001",
]

/// A client of a server that one handler makes up, in which it answers as the test wants.
func withServer(
    _ handler: @escaping @Sendable () -> any ChannelInboundHandler,
    timeouts: ResponseTimeouts = ResponseTimeouts(), _ body: (ChannelClient) async throws -> Void
) async throws {
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                try channel.pipeline.syncOperations.addHandler(handler())
            }
        }
        .bind(host: "127.0.0.1", port: 0).get()
    let port = try #require(server.localAddress?.port)
    let address = try #require(ServerAddress("http://127.0.0.1:\(port)"))
    let client = ChannelClient(
        ServerConnections(to: address, security: nil), security: nil, timeouts: timeouts, elapsed: { 0 },
        hearing: { _ in })
    try await body(client)
    await client.close()
    try await server.close()
}
