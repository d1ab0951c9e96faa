/// Row 2: who is pushing, when the connection showed a client certificate. A provider token on it is ignored.
///
/// Source: Apple, "Establishing a certificate-based connection to APNs" and "Sending notification requests to APNs" (read 2026-11).
enum CertificateRules {
    static let all = [
        Rule(2, .documented, belief),
        Rule(2, .documented, environment),
    ]

    private static func belief(_ examination: inout Examination) -> RuleRefusal? {
        guard let certificate = examination.connection.certificate else { return nil }
        return certificate.isBelieved && examination.now < certificate.expiresAt ? nil : RuleRefusal(.badCertificate)
    }

    /// The connection was told to go away already; what came all the same gets the same reason.
    private static func environment(_ examination: inout Examination) -> RuleRefusal? {
        guard let certificate = examination.connection.certificate else { return nil }
        return certificate.fits(examination.settings.environment) ? nil : RuleRefusal(.badCertificateEnvironment)
    }
}
