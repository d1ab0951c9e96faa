import Model
import Routing

/// A path that a delivery left for its next one, and why. It is stored with the delivery, among the names of its shortened parts, so that it costs nothing
/// where a delivery takes its first path.
package struct TriedPath: Sendable, Hashable {
    /// Why a path was left without a refusal by its peer of this target.
    package enum Word: String, Sendable {
        case noToken, noCredential, noDevice
        /// The peer refuses the credential.
        case credentialRefused
        /// For longer than the rule's `coolDown`.
        case outOfOrder
    }

    /// As in a file of rules: `apns`, or the credential of an upstream.
    package let path: String
    /// A reason of the peer, or a word of the gateway.
    package let outcome: String
    /// Whether the peer gave the reason.
    let isRefusal: Bool

    package init(_ path: String, outcome: String) {
        self.init(path, outcome, isRefusal: true)
    }

    init(_ path: String, _ end: PathEnd) {
        switch end {
        case .refused(let reason): self.init(path, reason, isRefusal: true)
        case .unused(let word): self.init(path, word.rawValue, isRefusal: false)
        }
    }

    private init(_ path: String, _ outcome: String, isRefusal: Bool) {
        self.path = path
        self.outcome = outcome
        self.isRefusal = isRefusal
    }

    // MARK: Stored form

    private static let prefix = "path:"
    /// 100 characters of a peer's reason: as much as a line shows.
    private static let longestOutcome = 100

    /// `path:old-braze=InvalidUser`. The entries are separated by commas, so that it has none.
    private var entry: String {
        let text = outcome.prefix(Self.longestOutcome).map { $0 == "," || $0 == "\0" ? " " : $0 }
        return Self.prefix + path + "=" + String(text)
    }

    private init?(entry: Substring) {
        guard entry.hasPrefix(Self.prefix), let end = entry.firstIndex(of: "=") else { return nil }
        self.init(String(entry[..<end].dropFirst(Self.prefix.count)), outcome: String(entry[end...].dropFirst()))
    }

    /// The stored form of a delivery's shortened parts and of the paths that it left; nil: there are none.
    package static func entries(_ reduced: [String], _ tried: [TriedPath]) -> String? {
        reduced.isEmpty && tried.isEmpty ? nil : (reduced + tried.map(\.entry)).joined(separator: ",")
    }

    /// The paths of a stored form, in the order in which they were left.
    package static func paths(in entries: String?) -> [TriedPath] {
        entries?.split(separator: ",").compactMap { TriedPath(entry: $0) } ?? []
    }

    /// The shortened parts of a stored form, separated by commas; nil: there are none.
    package static func reduced(in entries: String?) -> String? {
        guard let entries, entries.contains(prefix) else { return entries }
        let parts = entries.split(separator: ",").filter { TriedPath(entry: $0) == nil }
        return parts.isEmpty ? nil : parts.joined(separator: ",")
    }
}

extension CredentialID {
    /// The name of an upstream in the rows of deliveries.
    var upstreamTransport: String { Self.upstreamPrefix + rawValue }
}

/// Why a target leaves a path.
enum PathEnd: Sendable, Hashable {
    /// The peer's reason.
    case refused(String)
    case unused(TriedPath.Word)
}

extension DeliveryMachine {
    /// Records that a target leaves a path. Nothing is recorded for targets with one path: their outcome says what became of it.
    mutating func leavePath(_ place: Int, of slot: Int, _ end: PathEnd) {
        guard targets[slot].paths.count > 1, targets[slot].paths.indices.contains(place) else { return }
        targets[slot].tried.append(TriedPath(targets[slot].paths[place].name, end))
    }

    /// Records the paths from the target's present one on that cannot be used, in front of the one that is.
    mutating func skipPaths(of slot: Int, to path: Int) {
        guard path > targets[slot].path else { return }
        let hasToken = work?.targets[slot]?.destination.usableToken != nil
        for place in targets[slot].path..<path where targets[slot].paths.indices.contains(place) {
            let isWithoutToken = targets[slot].paths[place] == .apns && !hasToken
            leavePath(place, of: slot, .unused(isWithoutToken ? .noToken : .noCredential))
        }
    }
}
