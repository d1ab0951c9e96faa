import CommandSupport
import Gateway
import Model
import PageParts
import PostgresClient
import WebConsole

/// A page of the console, with the ids of objects that exist.
struct ConsolePlace: Sendable, Equatable {
    /// The pattern of its path, `messages/{message}`; of the overview a word.
    var name: String
    /// Path and query.
    var path: String
}

/// The objects that the pages of the console show: those of the history, and one of each other kind, which `bench console` creates.
struct ConsoleObjects {
    let stage: BenchStage

    private static let group = "bench"
    /// Of the members of the group, which has two pages of them.
    private static let members = 100

    /// The values of fields that are the same with a tenth of the rows and with all.
    private static let fixed = [
        "app": BenchStage.app.rawValue, "credential": "apple", "group": group, "key": "backend", "migration": "leave",
        "reason": "Unregistered", "template": "bench",
    ]

    /// Pages that show the first app of the tenant unless their address names one. It has no devices.
    private static let ofOneApp: Set<String> = [
        "compose", "groups", "groups/{group}", "templates", "test-devices", "users", "users/{user}",
    ]

    /// Every page, with these values of the fields of its path.
    static func places(_ fields: [String: String]) -> [ConsolePlace] {
        Pages.all.map { page in
            let segments = page.path.split(separator: "/").map { part in
                guard part.hasPrefix("{"), part.hasSuffix("}") else { return String(part) }
                // A page with an unknown field is answered with 404, which the run reports.
                return APICall.segment(fields[String(part.dropFirst().dropLast())] ?? "unknown")
            }
            let query = ofOneApp.contains(page.path) ? "?app=\(BenchStage.app)" : ""
            return ConsolePlace(
                name: page.path.isEmpty ? "overview" : page.path,
                path: ConsolePaths.tenant(BenchStage.tenant.rawValue) + segments.joined(separator: "/") + query
            )
        }
    }

    // MARK: History

    /// The fields of the newest message to all devices, and of one of its devices.
    ///
    /// - Throws: the error of the database.
    func history(_ message: Int) async throws -> [String: String] {
        let row = try await stage.database.engine.run(
            Statement(
                """
                SELECT \(AnalyticsFill.message(message))::text AS message, i.identity_id::text AS target,
                    i.device_id::text AS device, i.user_id
                FROM gateway.identity i WHERE i.tenant_id = $1 AND i.key = 'bench-77'
                """,
                [.text(BenchStage.tenant.rawValue)]
            ),
            tenant: nil
        ).only()
        return [
            "message": try row.text("message"), "target": try row.text("target"), "device": try row.text("device"),
            "user": try row.text("user_id"),
        ]
    }

    // MARK: Other objects

    /// A call that creates an object.
    private struct Creation {
        var method = "PUT"
        var path: String
        var body: JSON?
        /// The field of which the answer has the value as `id`.
        var field: String?
    }

    private static var creations: [Creation] {
        let app = BenchStage.app.rawValue
        let users: [JSON] = (1...members).map { .string("user-\($0)") }
        return [
            Creation(path: "/v1/apps/\(app)/groups/\(group)"),
            Creation(method: "POST", path: "/v1/apps/\(app)/groups/\(group)/members", body: ["add": .array(users)]),
            Creation(
                path: "/v1/apps/\(app)/templates/bench",
                body: ["content": ["title": "Winter sale", "body": "Dear #{name}, only today."]]
            ),
            Creation(
                method: "POST",
                path: "/v1/webhooks",
                // Nothing listens there, and nothing is called.
                body: [
                    "url": .string("http://127.0.0.1:\(BenchStage.discardPort)/"), "kinds": ["sent"], "active": false,
                ],
                field: "webhook"
            ),
            Creation(
                method: "POST",
                path: "/v1/captures",
                body: ["app": .string(app), "vendor": "rationalowl", "minutes": 60],
                field: "capture"
            ),
            Creation(
                path: "/v1/credentials/old",
                body: ["kind": "upstream-rationalowl", "url": "https://old.example.com"]
            ),
            Creation(method: "POST", path: "/v1/migrations", body: migration(app)),
        ]
    }

    /// A plan that is not started.
    private static func migration(_ app: String) -> JSON {
        [
            "migration": ["id": "leave", "app": .string(app), "from": "old", "by": "device", "onGateFailure": "hold"],
            "steps": [
                ["stage": "observe", "gates": ["observed": ">= 0.99", "senders": ">= 1"]],
                ["stage": "serve", "gates": ["backlog": "<= 60s", "reach": ">= 0.99"]],
                [
                    "stage": "rollout", "percent": 100,
                    "gates": ["failures": "<= 0.02", "receipts": "none", "unknown": "<= 0.01"],
                ],
                ["stage": "hold"], ["stage": "complete"],
            ],
        ]
    }

    /// Creates one object of each kind that the history lacks.
    ///
    /// - Returns: the values of fields, and sentences about objects that could not be created: their pages are then not measured.
    /// - Throws: `StageFailure` when `psql` fails; the client's error when no answer arrives.
    func make() async throws -> (fields: [String: String], faults: [String]) {
        let tenant = BenchStage.tenant.rawValue
        try await stage.psql("UPDATE gateway.api_key SET scopes = scopes || '{admin}' WHERE tenant_id = '\(tenant)'")
        var fields = Self.fixed
        var faults: [String] = []
        for creation in Self.creations {
            let answer = try await answer(creation)
            guard (200..<300).contains(answer.status) else {
                faults.append("\(creation.path) answered \(answer.status) \(answer.text.prefix(300))")
                continue
            }
            if let field = creation.field { fields[field] = answer.json?["id"]?.string }
        }
        return (fields, faults)
    }

    /// The answer of a call, which is repeated for five seconds: a gateway knows changed scopes and credentials within a second.
    private func answer(_ creation: Creation) async throws -> HTTPCaller.Answer {
        for _ in 0..<50 {
            let answer = try await call(creation)
            if (200..<300).contains(answer.status) { return answer }
            try await Task.sleep(for: .milliseconds(100))
        }
        return try await call(creation)
    }

    private func call(_ creation: Creation) async throws -> HTTPCaller.Answer {
        try await stage.gateway.call(creation.method, creation.path, creation.body, bearer: stage.apiKey)
    }
}
