import NIOCore
import NIOPosix

/// A client that sends its body a byte at a time.
enum SlowClient {
    /// The server's answer. Returns when the server accepts no further bytes, at the latest after `limit`.
    static func drip(
        host: String,
        port: Int,
        path: String,
        statedBytes: Int,
        every pause: Duration,
        limit: Duration
    ) async throws -> String {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            // The client continues after the server has finished sending.
            .channelOption(.allowRemoteHalfClosure, value: true)
            .connect(host: host, port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel,
                        configuration: .init(isOutboundHalfClosureEnabled: true)
                    )
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            let head =
                "POST \(path) HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: \(statedBytes)\r\n\r\n"
            try await outbound.write(ByteBuffer(string: head))
            return await withTaskGroup(of: String?.self) { group in
                group.addTask {
                    var text = ""
                    do {
                        for try await buffer in inbound { text += String(buffer: buffer) }
                    } catch {}
                    return text
                }
                group.addTask {
                    let end = ContinuousClock.now + limit
                    while ContinuousClock.now < end {
                        do { try await outbound.write(ByteBuffer(string: "a")) } catch { return nil }
                        try? await Task.sleep(for: pause)
                    }
                    return nil
                }
                var text = ""
                for await result in group { text += result ?? "" }
                return text
            }
        }
    }
}

/// A client that announces a body and sends only its beginning.
enum HalfBody {
    /// The server's answer up to `end`, or what has arrived when the connection ends or after ten seconds.
    static func post(
        host: String,
        port: Int,
        path: String,
        statedBytes: Int,
        beginning: String,
        until end: String
    ) async throws -> String {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: host, port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        let deadline = channel.channel.eventLoop.scheduleTask(in: .seconds(10)) {
            channel.channel.close(promise: nil)
        }
        defer { deadline.cancel() }
        return try await channel.executeThenClose { inbound, outbound in
            let head =
                "POST \(path) HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: \(statedBytes)\r\n\r\n"
            try await outbound.write(ByteBuffer(string: head + beginning))
            var text = ""
            for try await buffer in inbound {
                text += String(buffer: buffer)
                if text.contains(end) { break }
            }
            return text
        }
    }
}
