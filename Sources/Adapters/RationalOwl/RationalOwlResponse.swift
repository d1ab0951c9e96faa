import HTTPTypes
import Model

/// The answer to one call, in the shape that the client's generation can read.
///
/// The rules (docs/contracts/rationalowl.md#2.1): no `null`, no key beyond the documented ones, all documented keys also in an error (Swift decoders need them
/// to reach `rc`), and `rc` from the closed set.
struct RationalOwlResponse {
    let endpoint: RationalOwlCall
    /// Of the request, because answers repeat its ids; empty where it could not be read.
    let fields: RationalOwlFields
    let settings: RationalOwlSettings
    let userAgent: String?
    /// The host that was called, with its port.
    let host: String?

    /// The answer to what came of the command.
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
        // Assumed: the vendor's answer to a body it cannot read (docs/contracts/rationalowl.md#5.5).
        case .unreadable: .text("error", status: 400)
        // A receipt that names nobody is an orphan: an error would only be sent again.
        case .missing, .invalid, .unauthorized: .text("ok")
        case .tooLarge, .methodNotAllowed, .notFound, .tooManyRequests, .timedOut, .withheld:
            .failure(RationalOwlError(error, at: endpoint), on: .pushApp)
        }
    }

    /// An error in the shape of this call.
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

    /// A reply that does not belong to this call: a mistake of ours, answered as our own trouble.
    func mismatch() -> VendorResponse {
        fail(RationalOwlError(.unavailable(retryAfter: nil), at: endpoint))
    }

    /// The client that decodes this answer (docs/contracts/rationalowl.md#2.1): by the request's `dt`, else by the stored device, else by the client's name.
    func platform(stored: Platform?) -> Platform? {
        switch try? fields.integer("dt") {
        case 1: .android
        case 2: .ios
        case .some, .none: stored ?? ClientHint.platform(userAgent: userAgent)
        }
    }
}

/// How a `/pushApp` call ended, as every one of its answers says it.
struct Verdict {
    let code: RationalOwlCode
    let comment: String

    /// What the vendor document calls a success.
    static let success = Verdict(code: .ok, comment: "정상처리")

    init(code: RationalOwlCode, comment: String) {
        self.code = code
        self.comment = comment
    }

    init(_ error: RationalOwlError) {
        self.init(code: error.code, comment: error.comment)
    }
}
