/// A permission of an API key: an action, optionally limited to one app and to one kind of audience.
///
/// As text: the action, then the limits in any order, separated by colons: `read`, `send:app/shop`, `send:direct:app/shop`.
package struct KeyScope: Sendable, Hashable, CustomStringConvertible {
    /// The actions that a scope permits.
    package enum Action: String, Sendable, Hashable, CaseIterable {
        case send, devices, read
        /// In addition to `read`: titles, texts and data of messages. Permits no operation itself.
        case content
        /// Includes all other actions, and has no limits.
        case admin
    }

    /// The audiences of a message that a scope may be limited to.
    package enum Reach: String, Sendable, Hashable, CaseIterable {
        /// Named devices, keys, phones and users.
        case direct
        /// Groups and tags.
        case groups
        /// Everyone, and the subscribers of a broadcast channel.
        case broadcast
    }

    package var action: Action
    /// Nil: every app of the tenant.
    package var app: AppID?
    /// Nil: every audience. Only `send` has one.
    package var reach: Reach?

    package init(_ action: Action, app: AppID? = nil, reach: Reach? = nil) {
        self.action = action
        self.app = app
        self.reach = reach
    }

    /// Nil for a text that is not a scope.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard let name = parts.first, let action = Action(rawValue: String(name)) else { return nil }
        self.init(action)
        for part in parts.dropFirst() {
            if let reach = Reach(rawValue: String(part)), action == .send, self.reach == nil {
                self.reach = reach
            } else if part.hasPrefix(Self.appPrefix), action != .admin, app == nil {
                let name = String(part.dropFirst(Self.appPrefix.count))
                guard StrictFields.isName(name) else { return nil }
                app = AppID(name)
            } else {
                return nil
            }
        }
    }

    /// 256 scopes per key: one per app and action of a large tenant. Each call compares them.
    package static let limit = 256

    private static let appPrefix = "app/"

    /// The forms of a scope, for messages about an invalid one.
    package static let forms =
        "\(Action.allCases.map(\.rawValue).joined(separator: ", ")); limited to an app with :app/APP, and send also with :"
        + Reach.allCases.map(\.rawValue).joined(separator: ", :")

    package var description: String {
        ([action.rawValue] + [reach?.rawValue, app.map { Self.appPrefix + $0.rawValue }].compactMap(\.self))
            .joined(separator: ":")
    }
}

/// The permissions of an API key.
package struct KeyScopes: Sendable, Hashable, ExpressibleByArrayLiteral {
    private let scopes: [KeyScope]

    /// Texts that are not scopes grant nothing.
    package init(_ texts: some Sequence<String>) { scopes = texts.compactMap { KeyScope($0) } }

    package init(arrayLiteral elements: String...) { self.init(elements) }

    /// The apps for which a key may do something.
    package enum Apps: Sendable, Hashable {
        case all
        /// An empty set: the key may not do it at all.
        case only(Set<AppID>)

        func contains(_ app: AppID) -> Bool {
            switch self {
            case .all: true
            case .only(let apps): apps.contains(app)
            }
        }
    }

    /// The apps for which the key may perform `action`, for any audience.
    package func apps(_ action: KeyScope.Action) -> Apps { apps { $0.action == action || $0.action == .admin } }

    /// Whether the key may do everything.
    package var mayAdminister: Bool { scopes.contains { $0.action == .admin } }

    /// The apps for which the key may send to every audience.
    package var appsOfFullSending: Apps {
        apps { $0.action == .admin || $0.action == .send && $0.reach == nil }
    }

    /// Whether the key may send to such an audience of the app. Nil: to every audience.
    package func maySend(to reach: KeyScope.Reach?, of app: AppID) -> Bool {
        apps { scope in
            scope.action == .admin || scope.action == .send && (scope.reach == nil || scope.reach == reach)
        }.contains(app)
    }

    /// Whether the operations that the key may call show it the content of the app's messages; nil: of those of every app.
    package func mayReadContent(of app: AppID?) -> Bool {
        let apps = apps(.content)
        return app.map { apps.contains($0) } ?? (apps == .all)
    }

    private func apps(_ isGranted: (KeyScope) -> Bool) -> Apps {
        let granted = scopes.filter(isGranted)
        return granted.contains { $0.app == nil } ? .all : .only(Set(granted.compactMap(\.app)))
    }
}

extension Audience {
    /// The kind of audience that a scope may be limited to.
    package var reach: KeyScope.Reach {
        switch self {
        case .listed, .users: .direct
        case .groups, .tags: .groups
        case .everyone: .broadcast
        }
    }
}
