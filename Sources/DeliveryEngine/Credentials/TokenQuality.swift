package import Model

/// Monitors how many of an app's tokens the peer considers doubtful. When the share is large, the cause is usually not the tokens but a wrong key, topic or
/// environment. No token may be quarantined then; otherwise a mistake of the operator would silence the whole app.
///
/// The cause can also be tokens that somebody invented and registered. Pushes that the peer accepts in the same environment show that key, topic and
/// environment are right. So while the monitor is stopped, every four accepted pushes permit one quarantine, as many as before it stopped: invented
/// tokens become fewer with every send, and a mistake, with which nothing is accepted, costs no further token.
///
/// Dead tokens do not count and are always marked: they carry their own time, an old audience has many, and nobody can invent them. The environments of
/// an app are separate, because tokens can be invented for the one that the app does not use. A pure value. Source of the figures:
/// docs/contracts/apns.md#13.6.
package struct TokenQuality: Sendable {
    /// The app whose tokens are counted.
    package struct Key: Sendable, Hashable {
        package var tenant: TenantID
        package var app: AppID

        package init(tenant: TenantID, app: AppID) {
            self.tenant = tenant
            self.app = app
        }
    }

    private struct Place: Hashable {
        var key: Key
        var environment: PushEnvironment
    }

    /// A ring buffer of the last answers.
    private struct Window {
        var answers: [Bool] = []
        var next = 0
        var doubtful = 0
        /// The state that was last reported, so that each change is reported once.
        var isStopped = false
        /// While stopped: accepted pushes that have not permitted a quarantine yet.
        var unused = 0

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

        /// The number of quarantines that are permitted after these answers.
        mutating func permitted(of asked: Int, accepted: Int) -> Int {
            isStopped = doubtful > TokenQuality.limitCount
            guard isStopped else {
                unused = 0
                return asked
            }
            unused = min(unused + min(max(0, accepted), TokenQuality.windowCount), TokenQuality.windowCount)
            let count = min(asked, unused / TokenQuality.acceptedPerQuarantine)
            unused -= count * TokenQuality.acceptedPerQuarantine
            return count
        }
    }

    /// The last 200 answers of each app and environment are considered.
    package static let windowCount = 200
    /// 20 % of them. At or below the limit, wrong tokens are quarantined; above it, good tokens would be too.
    package static let limitCount = 40
    /// While stopped. The same proportion as that of the limit: 40 doubtful answers among 160 others.
    package static let acceptedPerQuarantine = 4
    /// 4,096 windows are kept at once (1 MB). Beyond that, the one with the fewest answers is forgotten and starts again from zero.
    package static let windowLimit = 4 * 1024

    private var windows: [Place: Window] = [:]

    package init() {}

    /// Apps of which more tokens fail than may be quarantined.
    package var stopped: Set<Key> { Set(windows.filter(\.value.isStopped).keys.map(\.key)) }

    /// Records a batch and returns those of its verdicts that may be applied.
    ///
    /// - Parameters:
    ///   - verdicts: the peer's verdicts on tokens.
    ///   - answers: the answers in which they were found.
    ///   - key: the app of the tokens.
    /// - Returns: all verdicts; or, while an unusual share of tokens fails, without those doubtful tokens that must be kept.
    package mutating func judge(
        _ verdicts: [TokenVerdict],
        among answers: TokenAnswers,
        of key: Key
    ) -> [TokenVerdict] {
        let place = Place(key: key, environment: answers.environment)
        if windows[place] == nil && windows.count >= Self.windowLimit {
            windows.min { $0.value.answers.count < $1.value.answers.count }.map { windows[$0.key] = nil }
        }
        var window = windows[place] ?? Window()
        let doubtful = verdicts.count(where: \.isDoubtful)
        for _ in 0..<max(0, min(answers.answered, Self.windowCount) - doubtful) { window.add(false) }
        for _ in 0..<min(doubtful, Self.windowCount) { window.add(true) }
        var left = window.permitted(of: doubtful, accepted: answers.accepted)
        windows[place] = window
        return verdicts.filter { verdict in
            guard verdict.isDoubtful else { return true }
            left -= 1
            return left >= 0
        }
    }
}

/// The answers of a batch of pushes to tokens of one environment.
package struct TokenAnswers: Sendable, Hashable {
    package var environment: PushEnvironment
    /// Pushes that the peer answered.
    package var answered: Int
    /// Of these, the accepted ones; without those that were tried in the other environment.
    package var accepted: Int

    package init(_ environment: PushEnvironment, answered: Int = 0, accepted: Int = 0) {
        self.environment = environment
        self.answered = answered
        self.accepted = accepted
    }
}

extension TokenVerdict {
    fileprivate var isDoubtful: Bool {
        if case .doubtful = self { true } else { false }
    }
}
