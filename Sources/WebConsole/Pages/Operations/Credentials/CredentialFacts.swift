import Model
import PageParts

/// A credential of an answer, read leniently.
struct CredentialFacts: Sendable {
    let json: JSON

    var id: String { json["credential"]?.string ?? "" }
    var isUpstream: Bool { json["url"]?.string != nil || kind.hasPrefix("upstream-") }
    var kind: String { json["kind"]?.string ?? "" }
    var refusal: String? { json["refusal"]?.string }
    var days: Int64? { json["daysToExpiry"]?.int }
    var uses: [JSON] { json["uses"]?.array ?? [] }
    var isFile: Bool { json["origin"]?.string == "file" }
    /// The sentences of the findings, fatal ones first.
    var findings: [(text: String, isFatal: Bool)] {
        (json["findings"]?.array ?? []).compactMap { finding in
            finding["text"]?.string.map { (text: $0, isFatal: finding["fatal"]?.bool ?? false) }
        }
    }
    /// Whether the checks found something that prevents pushes.
    var isUnusable: Bool { json["usable"]?.bool == false }
    /// 30 days, as the gateway's own check.
    var expiresSoon: Bool { (days ?? .max) <= 30 }

    func kindName(_ words: Wording) -> String {
        switch kind {
        case "apns-token": words(CredentialsText.tokenKind)
        case "apns-certificate": words(CredentialsText.certificateKind)
        case let kind where kind.hasPrefix("upstream-"):
            VendorName.of(String(kind.dropFirst("upstream-".count)), words.language)
        default: kind.isEmpty ? Wording.unknown : kind
        }
    }

    func state(_ words: Wording) -> (mark: Mark, text: String) {
        if let refusal {
            let text = isUpstream ? CredentialsText.upstreamRefused : CredentialsText.refused
            return (.bad, "\(words(text)): \(refusal)")
        }
        if isUnusable { return (.bad, words(CredentialsText.unusable)) }
        if expiresSoon { return (.warn, words(CredentialsText.expiring)) }
        return (.ok, words(CredentialsText.valid))
    }

    func expiry(_ words: Wording) -> String {
        guard json["expiresAt"]?.string != nil else {
            return kind == "apns-token" ? words(CredentialsText.never) : Wording.unknown
        }
        return words.time(json["expiresAt"])
    }

    /// The rule of the sentence: refused, unusable, about to expire, valid. Nil for a valid one of a list.
    func problem(_ words: Wording) -> Sentence? {
        let link = Link(id, Link.path("credentials", id))
        if let refusal {
            let text = CredentialsText.refusedSince(id, refusal, words.time(json["refusedAt"]))
            return Sentence(mark: .bad, text: words(text), link: link)
        }
        if isUnusable {
            let first = findings.first(where: \.isFatal).map { words(FindingText($0.text).text) } ?? ""
            return Sentence(mark: .bad, text: words(CredentialsText.cannotSend(id, first)), link: link)
        }
        if expiresSoon, let days {
            return Sentence(mark: .warn, text: words(CredentialsText.expiresIn(id, words.count(days))), link: link)
        }
        return nil
    }

    /// The highest one comes first in a list of problems.
    var urgency: Int {
        if refusal != nil { return 3 }
        if isUnusable { return 2 }
        return expiresSoon ? 1 : 0
    }
}
