package import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPCompression

/// Inflates the body of a call that came compressed.
package enum BodyInflater {
    private static let codings: Set<String> = ["gzip", "deflate"]

    /// Whether `headers` say that the body is compressed in a way that is understood.
    package static func isNeeded(_ headers: HTTPFields) -> Bool {
        headers[.contentEncoding].map { codings.contains($0.lowercased()) } ?? false
    }

    /// The body as it was before. `limitBytes` bounds it, whatever a few bytes claim to be: it is held in memory whole.
    ///
    /// - Throws: `.tooLarge` above the limit, `.broken` for what is no such stream, or goes on behind its end.
    package static func inflated(_ body: [UInt8], coding: String, limitBytes: Int) throws(BodyReader.Failure) -> [UInt8]
    {
        // The library's decompressor is a channel's handler; the channel is made for this one body, used by this one call, and gone with it.
        let channel = EmbeddedChannel(handler: NIOHTTPRequestDecompressor(limit: .size(limitBytes)))
        defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
        var head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/")
        head.headers.add(name: "Content-Encoding", value: coding.lowercased())
        var inflated: [UInt8] = []
        do {
            try channel.writeInbound(HTTPServerRequestPart.head(head))
            try channel.writeInbound(HTTPServerRequestPart.body(ByteBuffer(bytes: body)))
            try channel.writeInbound(HTTPServerRequestPart.end(nil))
            while let part = try channel.readInbound(as: HTTPServerRequestPart.self) {
                if case .body(let buffer) = part { inflated += buffer.readableBytesView }
            }
        } catch let error as NIOHTTPDecompression.DecompressionError where error == .limit {
            throw .tooLarge
        } catch {
            throw .broken
        }
        return inflated
    }
}
