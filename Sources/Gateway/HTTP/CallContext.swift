package import HTTPTypes
package import Hummingbird
package import Model
package import NIOCore
package import Tracing

/// The context of a call: its connection and the client's address.
package struct CallContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// The client's address without the port: that of the connection, until `TrustedProxies` has read the headers.
    package var client: ClientAddress
    package let channel: any Channel
    /// The account for which the console of this process makes the call, with its tenant and rights; nil: the call proves itself. No listener sets it.
    package var account: APIKeyGrant?
    /// Whether the console reads again what an open page of the account shows. No listener sets it.
    package var isRepetition = false
    /// The call's span, if its trace is sampled. The parts that know the route name it.
    package var span: (any Tracing.Span)?

    package init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
        client = ClientAddress(text: source.channel.remoteAddress?.ipAddress, isKnown: true)
    }

    /// Names the call's span after its operation or route, which contains no id of a person or a device.
    package func named(_ name: @autoclosure () -> String) {
        guard let span else { return }
        span.operationName = name()
    }

    /// The client's address as text.
    package var remoteAddress: String? { client.text }
}

extension Response {
    /// Converts a vendor's answer to a response of the web framework.
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
