import GatewayHTTP
import HTTPTypes
import Hummingbird
import Model
import NIOCore
import Routing

/// The parts that a call holds besides its record until its answer has left.
struct CallHold: Sendable {
    /// The body as it arrived, if the gateway has inflated it.
    var compressed: CompressedBody?
    /// The room of a large body.
    var room: HeldPermit?
    /// The room for what is read of a body with many values.
    var values: HeldPermit?
    /// The body of an upstream's answer; nil: the gateway answers.
    var proxied: ProxiedBody?
    /// Whether an upstream may have received the call, which is then not handed over again.
    var wasHandedOver = false
    /// The upstream that is asked if the gateway does not know what the call is about. Nil: none is.
    var miss: CallRouter.Proxying?
    /// The upstream that sent the message of a receipt, or may have: it receives the receipt too. Nil: the rules decide.
    var followed: CredentialID?
    /// Whether the receipt has been counted for parity already, by the side that sent its message.
    var isReceiptCounted = false
    /// The connection of the call; nil: it did not arrive at a listener.
    var channel: (any Channel)?
}

/// The parts of a gateway for calls that upstreams answer or receive.
struct UpstreamSide: Sendable {
    /// Nil: no call is proxied.
    var proxy: UpstreamProxy?
    /// Nil: proxied calls are not observed.
    var observer: CallObserver?
    /// The name of this gateway in `Via`. Nil: no call is forwarded.
    var forwardsAs: String?
}

/// The answer to a vendor's call: the gateway's own, or that of an upstream.
struct VendorAnswer: Sendable {
    /// Without a body if `proxied` is a stream.
    var response: VendorResponse
    /// Nil: the gateway's own.
    var proxied: ProxiedBody?
    /// Held while a stream lasts: until then the client may still hold the body of the request.
    var room: HeldPermit?
}

extension Response {
    /// Converts an answer to a response of the web framework. The head of an upstream's answer stays as it is.
    init(_ answer: VendorAnswer, to channel: any Channel) {
        guard let proxied = answer.proxied else {
            self.init(answer.response)
            return
        }
        var head = answer.response
        head.headers = ForeignHead.kept(head.headers)
        guard case .stream(let stream) = proxied else {
            self.init(head)
            return
        }
        self.init(
            status: HTTPResponse.Status(code: head.status),
            headers: head.headers,
            body: ResponseBody { [room = answer.room] writer in
                defer { room?.release() }
                try await stream.write(into: writer, over: channel)
            }
        )
    }
}
