import Model
import PageParts

/// An API key of an answer, read leniently.
struct KeyFacts: Sendable {
    let json: JSON

    /// 14 days: rotations need time.
    private static let noticeSeconds: Int64 = 14 * 86_400
    /// 90 days without a use, as the security posture.
    private static let idleSeconds: Int64 = 90 * 86_400

    var name: String { json["name"]?.string ?? "" }
    var isFile: Bool { json["isProvisioned"]?.bool ?? false }
    var scopes: [String] { (json["scopes"]?.array ?? []).compactMap(\.string) }
    var isAdmin: Bool { scopes.contains { $0 == "admin" || $0.hasPrefix("admin:") } }
    var isOpen: Bool { json["networks"]?.array?.isEmpty ?? false }

    func used(_ words: Wording) -> String {
        guard let used = words.moment(json["lastUsedAt"]) else { return words(KeysText.neverUsed) }
        return words.ago(used)
    }

    func networks(_ words: Wording) -> String {
        isOpen ? words(KeysText.everywhere) : words.list(json["networks"])
    }

    func expiry(_ words: Wording) -> String {
        json["expiresAt"]?.string == nil ? words(KeysText.noEnd) : words.time(json["expiresAt"])
    }

    private func end(_ words: Wording) -> Timestamp? { words.moment(json["expiresAt"]) }

    func state(_ words: Wording) -> Table.Cell {
        if let end = end(words) {
            if end <= words.now { return .tag(.bad, words(KeysText.ended)) }
            if end <= words.now + .seconds(Self.noticeSeconds) { return .tag(.warn, words(KeysText.endsSoon)) }
        }
        return json["hasOtherSecret"]?.bool == true
            ? .tag(.info, words(KeysText.rotating)) : .tag(.ok, words(KeysText.valid))
    }

    /// The problem of a key that the page states: it ends within two weeks, has expired, administers from every network, or was not used for 90 days. Nil:
    /// none.
    func problem(_ words: Wording) -> (urgency: Int, sentence: Sentence)? {
        let link = Link(name, Link.path("keys", name))
        func found(_ urgency: Int, _ mark: Mark, _ text: Text) -> (urgency: Int, sentence: Sentence) {
            (urgency: urgency, sentence: Sentence(mark: mark, text: words(text), link: link))
        }
        if let end = end(words) {
            if end <= words.now { return found(3, .warn, KeysText.ended(name, words.time(end))) }
            if end <= words.now + .seconds(Self.noticeSeconds) {
                return found(4, .warn, KeysText.ends(name, words.time(end)))
            }
        }
        if isAdmin, isOpen { return found(2, .warn, KeysText.open(name)) }
        let used = words.moment(json["lastUsedAt"]) ?? words.moment(json["createdAt"])
        if let used, used + .seconds(Self.idleSeconds) < words.now {
            return found(1, .warn, KeysText.idle(name, words.ago(used)))
        }
        return nil
    }
}
