import GatewayHTTP
import HTTPTypes
import Model
import Outgoing

/// The body of a call as it arrived, if the gateway has inflated it to read it.
struct CompressedBody: Sendable, Hashable {
    var bytes: [UInt8]
    var coding: String

    init(_ call: VendorRequest) {
        bytes = call.body
        coding = call.headers[.contentEncoding] ?? ""
    }
}

/// A call on its way to an upstream, and the answers when it has none. Pure.
enum ProxiedCall {
    /// Why a call has no answer of the upstream.
    enum Failure: Sendable, Hashable {
        /// It has passed this gateway already, or too many proxies.
        case loop
        /// The dialect says that the upstream cannot receive it.
        case unfit
        /// The credential does not exist any longer, or cannot be opened.
        case notOpen
        /// Calls of the caller's address have all its places at the upstream (`UpstreamShares`).
        case crowded
        /// The client's error.
        case failed(OutgoingError)
        /// The answer has a status that no answer may have.
        case unreadable

        /// Whether the upstream does not answer now, so that the gateway may stand in for it.
        var isOutage: Bool {
            switch self {
            case .unreadable: true
            case .failed(.invalid): false
            case .failed: true
            // A credential that is not open yet, or cannot be opened, says nothing about the upstream.
            case .loop, .unfit, .notOpen, .crowded: false
            }
        }

        /// A word for logs, without anything from a peer.
        var word: String {
            switch self {
            case .loop: "loop"
            case .unfit: "not a call of this upstream"
            case .notOpen: "upstream not open"
            case .crowded: "too many calls of the address"
            case .failed(let error): "upstream: \(error)"
            case .unreadable: "upstream: unreadable answer"
            }
        }
    }

    /// The request for the upstream: the bytes that arrived, unless `prepare` has changed the body.
    ///
    /// - Parameters:
    ///   - prepared: the call as `prepare` returned it.
    ///   - call: the call that `prepare` got, inflated.
    ///   - compressed: its body as it arrived; nil: `call` has it.
    ///   - name: the gateway's name in `Via`.
    /// - Returns: the request for the client.
    static func request(
        _ prepared: VendorRequest,
        of call: VendorRequest,
        _ compressed: CompressedBody?,
        by name: String
    ) -> OutgoingRequest {
        var headers = prepared.headers
        var body = prepared.body
        if let compressed, body == call.body {
            body = compressed.bytes
            headers[.contentEncoding] = compressed.coding
        }
        return OutgoingRequest(
            method: prepared.method,
            target: prepared.path + (prepared.query.map { "?\($0)" } ?? ""),
            fields: ProxyHeaders.request(headers, by: name),
            body: body
        )
    }

    /// An answer up to this length is read whole and sent in one piece, which costs less than a stream.
    static let wholeBytes = OutgoingLimits.collectedBytes

    /// The length of an answer that is read whole; nil: it is streamed.
    static func wholeLength(_ status: Int, _ fields: HTTPFields, of method: HTTPRequest.Method) -> Int? {
        if method == .head || status == 204 || status == 304 { return 0 }
        return fields[.contentLength].flatMap { Int($0) }.flatMap { (0...wholeBytes).contains($0) ? $0 : nil }
    }

    /// Whether a status may be passed on: those below 200 are no answers, and longer ones no statuses.
    static func isStatus(_ status: Int) -> Bool { (200...999).contains(status) }

    /// The answer to a call that has none of the upstream, in the dialect's form.
    ///
    /// A call that has certainly not arrived gets the dialect's "try again". So does one that may be repeated. A send that may have arrived gets 504 without a
    /// time to try again, because a repetition could push twice. Dialects that answer with 200 keep the status, and say that the time is over.
    static func answer(
        to failure: Failure,
        _ kind: CallKind,
        _ call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ settings: BindingSettings
    ) -> VendorResponse {
        switch failure {
        case .loop:
            let error = AdapterError(.invalid, field: "Via")
            return shaped(adapter.refuse(error, for: call, settings: settings), status: 508)
        case .unfit: return adapter.refuse(AdapterError(.notFound), for: call, settings: settings)
        case .failed(.invalid): return adapter.refuse(AdapterError(.invalid), for: call, settings: settings)
        case .notOpen, .crowded: return retry(call, adapter, settings)
        case .failed(let error) where error.isUnsent: return retry(call, adapter, settings)
        case .failed, .unreadable:
            let answer = retry(call, adapter, settings)
            switch kind {
            case .device, .user, .receipt, .read: return answer
            case .message, .send, .other:
                var last = shaped(answer, status: 504)
                if answer.status < 400 {
                    // Their "try again" is only in the body.
                    last = adapter.refuse(AdapterError(.timedOut), for: call, settings: settings)
                    last.status = answer.status
                }
                last.headers[.retryAfter] = nil
                return last
            }
        }
    }

    /// The dialect's "try again".
    static func retry(_ call: VendorRequest, _ adapter: any VendorAdapter, _ settings: BindingSettings)
        -> VendorResponse
    {
        adapter.encode([.refused(.unavailable(retryAfter: .seconds(5)))], for: call, settings: settings)
    }

    private static func shaped(_ answer: VendorResponse, status: Int) -> VendorResponse {
        var answer = answer
        if answer.status >= 400 { answer.status = status }
        return answer
    }
}
