import CommandSupport
import Foundation
import Model
import NIOHTTP1
import Testing

/// An open page of the console whose node stops: the next stream, at another node, continues without a gap.
@Suite(.timeLimit(.minutes(5))) struct ConsoleResumptionTests {
    private static let password = "walnut orbit 41 teapot"

    private func base(_ world: World, _ file: String) throws -> String {
        let bytes = FileManager.default.contents(atPath: world.material.path(file)) ?? Data()
        return "http://" + (try #require(try JSONParser.parse(Array(bytes))["console"]?.string))
    }

    private func register(_ world: World, _ number: Int) async throws {
        let device: JSON = [
            "app": "shop", "platform": "ios", "environment": "production", "key": .string("resumed-\(number)"),
            "token": .string(String(format: "%064x", 0x5E5_0000 + number)),
        ]
        let made = try await world.native("POST", "/v1/devices", device)
        try #require(made.status == 201, "\(made.text)")
    }

    /// The last offset of the event log.
    private func head(_ world: World) async throws -> Int64 {
        let page = try await world.native("GET", "/v1/events?limit=1")
        return try #require(page.headers.first(name: "X-Event-Head").flatMap { Int64($0) })
    }

    /// The row of an event, as a part of the page has it.
    private func row(_ offset: Int64) -> String { #"event-\#(offset)\""# }

    @Test func aPageWhoseNodeStopsContinuesAtAnother() async throws {
        let arguments = ["--console-listen", "127.0.0.1:0", "--console-password-rounds", "12"]
        try await Soak.with(Cluster(nodes: 2, arguments: arguments)) { cluster in
            let world = cluster.world
            let (stays, stops) = (try base(world, "gateway.json"), try base(world, "gateway-1.json"))
            let made = try await world.command(["account", "invite", "watcher", "--role", "owner", "--tenant", "acme"])
            let lines = made.log.split(separator: "\n").map(String.init)
            let link = try #require(lines.first { $0.hasPrefix("/invitation/") }, "\(made.log)")
            try await register(world, 0)
            let seen = try await head(world)
            try await ConsoleBrowser.with(stops) { browser in
                let person = browser()
                let secret = String(link.dropFirst("/invitation/".count))
                let fields = [("secret", secret), ("password", Self.password), ("repeated", Self.password)]
                try #require(try await person.post("/invitation", fields).status == 303)
                try #require(try await person.signIn("watcher", Self.password).status == 303)
                let before = try await person.follow("live", in: "acme", until: row(seen))
                try #require(before.contains(row(seen)), "\(before.suffix(500))")
                let last = try #require(before.matches(of: /(?m)^id: (\d+)$/).last).output.1
                try await cluster.killNode(1)
                for number in 1...3 { try await register(world, number) }
                let head = try await head(world)
                try #require(head >= seen + 3)
                // The session is in the database, and the log too.
                try await ConsoleBrowser.with(stays) { browser in
                    let other = browser()
                    for (name, value) in person.cookies { other.set(name, value) }
                    let after = try await other.follow("live", in: "acme", after: String(last), until: row(head))
                    for offset in (seen + 1)...head {
                        #expect(after.contains(row(offset)), "event \(offset) is missing: \(after.suffix(500))")
                    }
                }
            }
        }
    }
}
