import PageParts

/// The findings of the checks of credentials, in both languages, and what each of them concerns.
struct FindingText: Sendable {
    /// The part of a credential that a finding concerns.
    enum Concern: Sendable, Hashable, CaseIterable { case keyID, team, topic, environment, file }

    var concern: Concern
    var text: Text
    /// Whether it is a finding of `CredentialFinding` that this version knows.
    var isKnown: Bool

    /// - Parameter finding: a sentence of `CredentialFinding`; one that this version does not know is shown as it is.
    init(_ finding: String) {
        let (concern, korean) = Self.known(finding)
        self.concern = concern
        isKnown = korean != nil
        let first = finding.prefix(1).uppercased()
        text = Text(ko: korean ?? finding, en: first + finding.dropFirst() + (finding.hasSuffix(".") ? "" : "."))
    }

    private static func known(_ finding: String) -> (Concern, String?) {
        switch finding {
        case "the private key is not a P-256 key in PEM (.p8)":
            return (.file, "개인 키가 PEM 형식의 P-256 키(.p8)가 아닙니다.")
        case "the team id or key id contains characters that are not allowed":
            return (.team, "팀 ID나 키 ID에 사용할 수 없는 문자가 있습니다.")
        case "the trust roots are not certificates in PEM": return (.file, "신뢰할 인증 기관이 PEM 인증서가 아닙니다.")
        case "the certificate and its key cannot be used for TLS":
            return (.file, "인증서와 개인 키를 TLS에 사용할 수 없습니다.")
        case "the team id is not ten capital letters and digits": return (.team, "팀 ID가 영문 대문자와 숫자 10자리가 아닙니다.")
        case "the key id is not ten capital letters and digits": return (.keyID, "키 ID가 영문 대문자와 숫자 10자리가 아닙니다.")
        case "the certificate is not valid yet": return (.file, "인증서의 유효 기간이 아직 시작되지 않았습니다.")
        case "the certificate has expired": return (.file, "인증서가 만료되었습니다.")
        case "the certificate does not name a topic": return (.topic, "인증서에 토픽이 없습니다.")
        case "the certificate is not for production": return (.environment, "운영용 인증서가 아닙니다.")
        case "the certificate is not for sandbox": return (.environment, "개발용 인증서가 아닙니다.")
        default: break
        }
        if let days = EnglishSentence.middle(of: finding, "the certificate expires in ", " days") {
            return (.file, "인증서가 \(days)일 뒤 만료됩니다.")
        }
        if let topic = EnglishSentence.middle(of: finding, "the credential does not serve the topic ", "") {
            return (.topic, "\(topic) 토픽에는 발신할 수 없습니다.")
        }
        return (.file, nil)
    }
}
