import Model
import Store

/// The rules for verifying that a phone number belongs to its user. The gateway sends no text messages: only the test codes of a binding's settings work.
enum VerificationRules {
    static func request(_ phone: String, _ context: RuleContext) -> Plan {
        guard Storable.isKey(phone) else { return .refused(.invalid("phone")) }
        guard let code = testCode(of: phone, context) else { return .refused(.unsupported("sms")) }
        let limits = limits(context)
        let hash = hash(code, of: phone, context)
        return Plan(
            PutVerification(context.scope, phone: phone, codeHash: hash, limits: limits, at: context.now)
        ) { isPermitted in
            isPermitted ? .registration(.verificationSent) : .refused(.rateLimited(retryAfter: limits.resendAfter))
        }
    }

    static func check(_ phone: String, code: String, platform: Platform?, _ context: RuleContext) -> Plan {
        guard Storable.isKey(phone), Storable.fits(code, CommandLimits.codeBytes) else {
            return .settled(.registration(.verified(false, platform: platform)))
        }
        let hash = hash(code, of: phone, context)
        let limits = limits(context)
        return Plan(
            CheckVerification(context.scope, phone: phone, codeHash: hash, limits: limits, at: context.now)
        ) { isPermitted in
            .registration(.verified(isPermitted, platform: platform))
        }
    }

    /// The binding's setting `auth.testCodes` maps phones to their fixed code.
    private static func testCode(of phone: String, _ context: RuleContext) -> String? {
        let code = context.call.settings["auth.testCodes"]?[phone]?.lenientString
        guard let code, !code.isEmpty, Storable.fits(code, CommandLimits.codeBytes) else { return nil }
        return code
    }

    /// The hash includes app and phone, so that equal codes have different hashes in the store.
    private static func hash(_ code: String, of phone: String, _ context: RuleContext) -> String {
        let text = [context.call.tenant.rawValue, context.call.app.rawValue, phone, code].joined(separator: "\u{1F}")
        return context.identifiers.sha256(Array(text.utf8))
    }

    /// The settings `auth.ttl` (seconds, at most a day) and `auth.maxTries` (at most 20, so that four digits cannot be guessed).
    private static func limits(_ context: RuleContext) -> VerificationLimits {
        var limits = VerificationLimits()
        let settings = context.call.settings
        if let seconds = settings["auth.ttl"]?.lenientInt, (1...86_400).contains(seconds) {
            limits.validFor = .seconds(seconds)
        }
        if let tries = settings["auth.maxTries"]?.lenientInt, (1...20).contains(tries) {
            limits.maximumTries = Int(tries)
        }
        return limits
    }
}
