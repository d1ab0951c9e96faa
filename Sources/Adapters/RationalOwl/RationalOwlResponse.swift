import HTTPTypes
import Model

/// The answer to one call, in the format that the client's generation can read.
///
/// The rules (docs/contracts/rationalowl.md#2.1): no `null`; no undocumented keys; all documented keys also in an error, because Swift decoders need
/// them to reach `rc`; and `rc` from the closed set.
struct RationalOwlResponse {
    let endpoint: RationalOwlCall
    /// The fields of the request, because answers repeat its ids; empty if the body was unreadable.
    let fields: RationalOwlFields
    let settings: RationalOwlSettings
    let userAgent: String?
    /// The host of the call, with its port.
    let host: String?

    /// The reply to a call without a command: `unregUser` by a phone that the binding does not accept as proof.
    var silentReply: Reply {
        endpoint == .unregUser ? .registration(.unregistered(0)) : .refused(.unavailable(retryAfter: nil))
    }

    /// The answer to the reply of the command.
    func answer(_ reply: Reply) -> VendorResponse {
        switch (endpoint.surface, reply) {
        case (.pushApp, _): pushApp(reply)
        // Unregistering an unknown device succeeds.
        case (.shim, .refused(.unknownDevice)) where endpoint == .deviceUnregister: shim(reply)
        case (_, .refused(let refusal)): fail(RationalOwlError(refusal, at: endpoint))
        case (.shim, _): shim(reply)
        case (.server, _): server(reply)
        case (.messageClient, _): messageClient(reply)
        // These surfaces have no calls.
        case (.deviceGroup, _), (.downstream, _), (.customPush, _), (.tracking, _), (.sync, _): mismatch()
        }
    }

    /// The answer to a request that never became a command.
    func refuse(_ error: AdapterError) -> VendorResponse {
        guard endpoint == .notiRead else { return fail(RationalOwlError(error, at: endpoint)) }
        return switch error.code {
        // Assumed: the vendor's answer to an unreadable body (docs/contracts/rationalowl.md#5.5).
        case .unreadable: .text("error", status: 400)
        // A receipt without a valid device is an orphan: after an error it would be sent again.
        case .missing, .invalid, .unauthorized: .text("ok")
        case .tooLarge, .methodNotAllowed, .notFound, .tooManyRequests, .timedOut, .withheld:
            .failure(RationalOwlError(error, at: endpoint), on: .pushApp)
        }
    }

    /// An error in the format of this call.
    func fail(_ error: RationalOwlError) -> VendorResponse {
        let body: JSON =
            switch endpoint.surface {
            case .pushApp: pushAppBody(Verdict(error))
            case .messageClient: messageClientError(error)
            case .shim: shimError(error)
            case .server, .deviceGroup, .downstream, .customPush, .tracking, .sync:
                .pairs(["error": .string(error.detail)])
            }
        return .json(body, status: error.status, headers: error.headers)
    }

    /// The reply does not belong to this call. That is a bug of the gateway, and it is answered like its other failures.
    func mismatch() -> VendorResponse {
        fail(RationalOwlError(.unavailable(retryAfter: nil), at: endpoint))
    }

    /// The platform of the client that decodes this answer (docs/contracts/rationalowl.md#2.1): from the request's `dt`, otherwise the stored device,
    /// otherwise the `User-Agent`.
    func platform(stored: Platform?) -> Platform? {
        switch try? fields.integer("dt") {
        case 1: .android
        case 2: .ios
        case .some, .none: stored ?? ClientHint.platform(userAgent: userAgent)
        }
    }
}

/// The result of a `/pushApp` call, which is part of each of its answers.
struct Verdict {
    let code: RationalOwlCode
    let comment: String

    /// The success as the vendor document spells it.
    static let success = Verdict(code: .ok, comment: "정상처리")

    init(code: RationalOwlCode, comment: String) {
        self.code = code
        self.comment = comment
    }

    init(_ error: RationalOwlError) {
        self.init(code: error.code, comment: error.comment)
    }
}
