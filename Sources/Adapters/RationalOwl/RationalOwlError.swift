import HTTPTypes
package import Model

/// An error answer of this vendor: a result code, a sentence that an app may show, and the HTTP status.
///
/// The vendor publishes no error body. The codes are the vendor's (docs/contracts/rationalowl.md#4.2); the sentences are the gateway's, in Korean,
/// because apps show `cmt` to the user. Application errors are answered with 200, because one generation of Android apps drops the body of any other
/// status (docs/contracts/rationalowl.md#2).
package struct RationalOwlError: Error, Sendable, Hashable {
    package var code: RationalOwlCode
    /// The text of `cmt`.
    package var comment: String
    /// The text of `error`, the core's convention.
    package var detail: String
    package var status: Int
    package var retryAfter: Duration?

    init(
        _ code: RationalOwlCode,
        _ comment: String,
        _ detail: String,
        status: Int = 200,
        retryAfter: Duration? = nil
    ) {
        self.code = code
        self.comment = comment
        self.detail = detail
        self.status = status
        self.retryAfter = retryAfter
    }

    /// The answer to a request that never became a command. `endpoint` is nil for an unknown path.
    package init(_ error: AdapterError, at endpoint: RationalOwlCall?) {
        switch error.code {
        case .unreadable: self.init(.unknown, "요청 형식이 올바르지 않습니다.", "unreadable request", status: 400)
        case .missing where endpoint == .unregUser: self = .missing(error.field ?? "")
        case .missing, .invalid: self = .field(error.field ?? "", at: endpoint)
        case .tooLarge:
            if let field = error.field {
                self = .tooMany(field)
            } else {
                self.init(.unknown, "요청이 너무 큽니다.", "request too large", status: 413)
            }
        case .methodNotAllowed: self.init(.unknown, "허용되지 않는 메소드입니다.", "method not allowed", status: 405)
        case .notFound: self.init(.unknown, "존재하지 않는 경로입니다.", "no such path", status: 404)
        case .tooManyRequests: self = .tooFast(after: nil)
        case .unauthorized where endpoint?.surface.caller == .sender: self = .notAllowed
        case .unauthorized: self.init(.accountMismatch, "계정 정보가 일치하지 않습니다.", "account mismatch")
        case .timedOut, .withheld: self.init(.unknown, "요청 시간이 초과되었습니다.", "request timed out", status: 408)
        }
    }

    /// The answer to a command that was refused.
    package init(_ refusal: Refusal, at endpoint: RationalOwlCall) {
        switch refusal {
        case .unknownBinding: self = Self.unknownBinding(at: endpoint)
        case .unauthorized where endpoint.surface.caller == .sender: self = .notAllowed
        case .unauthorized: self.init(.accountMismatch, "계정 정보가 일치하지 않습니다.", "account mismatch")
        case .unknownDevice: self.init(.unknown, "등록되지 않은 단말입니다.", "device is not registered")
        case .unknownMessage: self.init(.unknown, "메시지를 찾을 수 없습니다.", "message not found")
        case .unknownMedia: self.init(.unknown, "이미지를 찾을 수 없습니다.", "image not found")
        case .unknownSender:
            self.init(.clientNotRegistered, "메시지 발신 클라이언트가 등록되지 않았습니다.", "message client not registered")
        case .unknownGroup: self.init(.unknown, "그룹을 찾을 수 없습니다.", "group not found")
        case .unknownTemplate: self.init(.templateNotRegistered, "등록되지 않은 템플릿입니다.", "template does not exist")
        case .noRecipients: self.init(.unknown, "수신 대상이 없습니다.", "no recipients")
        case .noCredential: self.init(.certificateMissing, "푸시 인증서가 등록되지 않았습니다.", "push certificate missing")
        case .invalid(let name): self = .field(Self.wireName(name), at: endpoint)
        case .tooMany(let name, limit: _): self = .tooMany(Self.wireName(name))
        case .rateLimited(let after, _): self = .tooFast(after: after)
        case .idempotencyMismatch:
            self.init(.unknown, "같은 Idempotency-Key로 다른 요청이 접수되었습니다.", "idempotency key was used for another request")
        case .unsupported, .outdated: self.init(.unknown, "지원하지 않는 기능입니다.", "not supported")
        case .unavailable(let after):
            // 200 with -1, so that an app retries instead of treating the server as unreachable (docs/contracts/rationalowl.md#3).
            self.init(.unknown, "일시적인 오류입니다. 잠시 후 다시 시도해 주세요.", "temporarily unavailable", retryAfter: after)
        }
    }

    /// Assumed: the vendor has no code for a back end that may not send.
    private static let notAllowed = RationalOwlError(.accountMismatch, "발신 권한이 없습니다.", "not authorized")
    static let verificationNotSent = RationalOwlError(.unknown, "인증번호를 발송하지 못했습니다.", "verification not sent")
    static let wrongVerificationCode = RationalOwlError(.unknown, "인증번호가 일치하지 않습니다.", "wrong verification code")

    private static func unknownBinding(at endpoint: RationalOwlCall) -> RationalOwlError {
        switch endpoint.surface {
        case .pushApp, .messageClient:
            RationalOwlError(.accountNotRegistered, "등록되지 않은 계정입니다.", "account is not registered")
        case .server, .shim, .deviceGroup, .downstream, .customPush, .tracking, .sync:
            RationalOwlError(.accountNotRegistered, "등록되지 않은 서비스입니다.", "service id is not registered")
        }
    }

    private static func missing(_ field: String) -> RationalOwlError {
        RationalOwlError(.unknown, "필수 항목이 없습니다: \(field)", "missing: \(field)")
    }

    private static func field(_ field: String, at endpoint: RationalOwlCall?) -> RationalOwlError {
        // The `cmt` for a bad callback URL is the field's name (docs/contracts/rationalowl.md#8.5).
        if endpoint == .setCallbackURL, field == "url" {
            return RationalOwlError(.unknown, field, "missing or invalid: url")
        }
        return RationalOwlError(.unknown, "필수 항목이 없거나 잘못되었습니다: \(field)", "missing or invalid: \(field)")
    }

    private static func tooMany(_ field: String) -> RationalOwlError {
        RationalOwlError(.unknown, "허용 범위를 초과했습니다: \(field)", "over the limit: \(field)")
    }

    private static func tooFast(after: Duration?) -> RationalOwlError {
        RationalOwlError(.unknown, "요청이 너무 많습니다. 잠시 후 다시 시도해 주세요.", "too many requests", status: 429, retryAfter: after)
    }

    /// The vendor's name of a command's field.
    private static func wireName(_ name: String) -> String {
        switch name {
        case "dueAt": "rv.st"
        case "callback": "url"
        case "audience": "dest.tg"
        case "image", "bytes": "img.imgD"
        case "body": "msg.body"
        case "title": "msg.title"
        case "content": "msg"
        case "fallback": "a"
        case "address": "ip"
        case "phone": "pn"
        case "key": "dRId"
        case "token": "tk"
        case "idempotencyKey": "Idempotency-Key"
        default: name  // a field whose name is the same in both
        }
    }
}
