/// Row 2: the sender of a connection with a client certificate. A provider token on such a connection is ignored.
///
/// Source: Apple, "Establishing a certificate-based connection to APNs" and "Sending notification requests to APNs" (read 2026-11).
enum CertificateRules {
    static let all = [
        Rule(2, .documented, trust),
        Rule(2, .documented, environment),
    ]

    private static func trust(_ examination: inout Examination) -> RuleRefusal? {
        guard let certificate = examination.connection.certificate else { return nil }
        return certificate.isBelieved && examination.now < certificate.expiresAt ? nil : RuleRefusal(.badCertificate)
    }

    /// The connection has already got a GOAWAY; later requests get the same reason.
    private static func environment(_ examination: inout Examination) -> RuleRefusal? {
        guard let certificate = examination.connection.certificate else { return nil }
        return certificate.fits(examination.settings.environment) ? nil : RuleRefusal(.badCertificateEnvironment)
    }
}
