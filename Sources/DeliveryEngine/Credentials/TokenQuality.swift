package import Model

/// Watches how many of an app's tokens the peer doubts. When it is a large share, the tokens are not to blame but a wrong key, topic or
/// environment: then none may be set aside, or a slip of the operator would silence the whole app.
///
/// Dead tokens do not count: they carry a time of their own, and an old audience has many.
/// A pure value. Source of the figures: docs/contracts/apns.md#13.6.
package struct TokenQuality: Sendable {
    /// Whose tokens.
    package struct Key: Sendable, Hashable {
        package var tenant: TenantID
        package var app: AppID

        package init(tenant: TenantID, app: AppID) {
            self.tenant = tenant
            self.app = app
        }
    }

    /// The last answers, oldest overwritten.
    private struct Window {
        var answers: [Bool] = []
        var next = 0
        var doubtful = 0
        /// What was told last, so that a change is told once.
        var isStopped = false

        mutating func add(_ isDoubtful: Bool) {
            if answers.count < TokenQuality.windowCount {
                answers.append(isDoubtful)
            } else {
                if answers[next] { doubtful -= 1 }
                answers[next] = isDoubtful
            }
            next = (next + 1) % TokenQuality.windowCount
            if isDoubtful { doubtful += 1 }
        }
    }

    /// 200 answers per app.
    package static let windowCount = 200
    /// 20 % of them. Below it wrong tokens are kept out; above it good tokens would be.
    package static let limitCount = 40
    /// 4,096 apps are watched at once (1 MB). Beyond it the one whose window is emptiest is forgotten, and starts anew.
    package static let appLimit = 4 * 1024

    private var windows: [Key: Window] = [:]

    package init() {}

    /// Apps whose tokens are not touched now.
    package var stopped: Set<Key> { Set(windows.filter(\.value.isStopped).keys) }

    /// Learns from a batch and says which of its verdicts may be applied.
    ///
    /// - Parameters:
    ///   - verdicts: what the peer said of tokens.
    ///   - answered: how many pushes it answered, these included.
    ///   - key: whose tokens they are.
    /// - Returns: all of them; or, while tokens fail in numbers, those that say a token lives.
    package mutating func judge(_ verdicts: [TokenVerdict], among answered: Int, of key: Key) -> [TokenVerdict] {
        if windows[key] == nil && windows.count >= Self.appLimit {
            windows.min { $0.value.answers.count < $1.value.answers.count }.map { windows[$0.key] = nil }
        }
        var window = windows[key] ?? Window()
        let doubtful = verdicts.count { if case .doubtful = $0 { true } else { false } }
        for _ in 0..<max(0, min(answered, Self.windowCount) - doubtful) { window.add(false) }
        for _ in 0..<min(doubtful, Self.windowCount) { window.add(true) }
        window.isStopped = window.doubtful > Self.limitCount
        windows[key] = window
        return window.isStopped ? verdicts.filter { if case .moved = $0 { true } else { false } } : verdicts
    }
}
