package import HTTPTypes
package import Hummingbird
package import Model
package import NIOCore

/// What a call knows of its connection.
package struct CallContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// The peer's address without port.
    package let remoteAddress: String?
    package let channel: any Channel

    package init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
        remoteAddress = source.channel.remoteAddress?.ipAddress
    }
}

extension Response {
    /// A vendor's answer as the web framework's.
    package init(_ answer: VendorResponse) {
        self.init(
            status: HTTPResponse.Status(code: answer.status),
            headers: answer.headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body))
        )
    }

    /// A JSON answer.
    package static func json(_ value: JSON, status: HTTPResponse.Status = .ok, headers: HTTPFields = HTTPFields())
        -> Response
    {
        var headers = headers
        headers[.contentType] = headers[.contentType] ?? "application/json; charset=utf-8"
        return Response(
            status: status,
            headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: JSONWriter.bytes(value)))
        )
    }
}
