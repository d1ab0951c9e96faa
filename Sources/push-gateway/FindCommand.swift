import ArgumentParser
import CommandSupport
import Foundation
import Model

/// `find`: what a text names, through a running gateway's native API.
struct FindCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Find messages, devices and users by an id, number, token, key, phone number or user.",
        discussion: """
            Uses POST /v1/find, with the API key from the environment variable PUSH_GATEWAY_KEY. Other users of this machine see arguments (ps):
            give - to read a token or phone number from standard input.
            """
    )

    @Argument(help: "The text; - for the first line of standard input.") var value: String
    @Option(help: "Only objects of this app.") var app: String?
    @OptionGroup var api: APIOptions

    func run() async throws {
        guard let text = value == "-" ? readLine() : value else {
            throw CommandFailure("find: standard input is empty", isUsage: true)
        }
        var body = JSONObject([("value", .string(text))])
        body["app"] = app.map { .string($0) }
        let answer = try await api.call("find", "POST", "/v1/find", .object(body))
        api.show(answer, Self.text)
    }

    static func text(_ answer: JSON) -> String {
        let matches = answer["matches"]?.array ?? []
        guard !matches.isEmpty else { return "nothing has this name" }
        return matches.map(section).joined(separator: "\n\n")
    }

    private static func section(_ match: JSON) -> String {
        var lines = ["as \(words(match["kind"]?.string ?? "")):"]
        let messages = match["messages"]?.array ?? []
        if !messages.isEmpty {
            let rows = messages.map { cells($0, ["id", "app", "vendor", "state", "dueAt"]) }
            lines.append(Console.table(["message", "app", "vendor", "state", "due"], rows))
        }
        let devices = match["devices"]?.array ?? []
        if !devices.isEmpty {
            let names = ["device", "app", "platform", "token", "token state", "vendor", "key", "state", "user"]
            lines.append(Console.table(names, devices.flatMap(rows)))
        }
        let users = match["users"]?.array ?? []
        if !users.isEmpty {
            let rows = users.map { cells($0, ["user", "app", "vendor"]) }
            lines.append(Console.table(["user", "app", "vendor"], rows))
        }
        if match["more"]?.bool == true { lines.append("… and more") }
        return lines.joined(separator: "\n")
    }

    /// A row for each identity of a device.
    private static func rows(_ device: JSON) -> [[String]] {
        let start = cells(device, ["id", "app", "platform", "token", "tokenState"])
        let identities = device["identities"]?.array ?? []
        if identities.isEmpty { return [start] }
        return identities.map { identity in start + cells(identity, ["vendor", "key", "state", "user"]) }
    }

    private static func cells(_ object: JSON, _ names: [String]) -> [String] {
        names.map { name in object[name]?.string ?? "" }
    }

    private static func words(_ kind: String) -> String { kind == "messageNumber" ? "message number" : kind }
}
