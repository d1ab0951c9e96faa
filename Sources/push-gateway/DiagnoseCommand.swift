import ArgumentParser
import CommandSupport
import Foundation
import Model

/// `devices diagnose`: why pushes reach a device, or why not, through a running gateway's native API.
struct DiagnoseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diagnose",
        abstract: "Show each condition for pushes to a device, the recommended actions, and the messages that wait.",
        discussion:
            "Uses GET /v1/devices/{device}/diagnosis, with the API key from the environment variable PUSH_GATEWAY_KEY. 'push-gateway find' finds the device's id."
    )

    @Argument(help: "The device's id.") var device: String
    @Option(help: "The lane of the message: urgent, transactional, bulk or background.") var lane = "bulk"
    @OptionGroup var api: APIOptions

    func validate() throws {
        guard DeviceID(text: device) != nil else { throw ValidationError("the device '\(device)' is not a UUID") }
    }

    func run() async throws {
        let path = "/v1/devices/\(device)/diagnosis?lane=\(HTTPCaller.encode(lane))"
        let answer = try await api.call("devices diagnose", "GET", path)
        api.show(answer, Self.text)
    }

    static func text(_ answer: JSON) -> String {
        let conditions = answer["conditions"]?.array ?? []
        let rows = conditions.map(row)
        var lines = [answer["answer"]?.string ?? "", ""]
        lines.append(Console.table(["", "condition", "vendor", "since", "state"], rows))
        let clients = (answer["clients"]?.array ?? []).map(client)
        if !clients.isEmpty { lines += ["", Console.table(["vendor"] + facts.map(\.heading), clients)] }
        var actions: [String] = []
        for condition in conditions where condition["met"]?.bool == false {
            guard let action = condition["action"]?.string else { continue }
            let line = "\(condition["condition"]?.string ?? ""): \(action)"
            if !actions.contains(line) { actions.append(line) }
        }
        if !actions.isEmpty {
            lines += ["", "recommended actions:"]
            lines += actions.map { action in "  \(action)" }
        }
        let waiting = answer["waiting"]?.array ?? []
        if !waiting.isEmpty { lines += ["", Console.table(waits, waiting.map(wait))] }
        if answer["waitingComplete"]?.bool == false {
            lines += ["", "There are more open messages, which were not looked at."]
        }
        return lines.joined(separator: "\n")
    }

    private static let facts: [(member: String, heading: String)] = [
        ("appVersion", "app"), ("os", "system"), ("osVersion", "version"), ("sdkVersion", "SDK"), ("model", "model"),
        ("locale", "locale"),
    ]

    /// The facts that the SDK of one identity reported.
    private static func client(_ client: JSON) -> [String] {
        [client["vendor"]?.string ?? ""] + facts.map { client[$0.member]?.string ?? "–" }
    }

    private static let waits = ["message", "because", "since", "until", "wait", "recommended action"]

    /// A message that waits.
    private static func wait(_ message: JSON) -> [String] {
        ["message", "because", "since", "until", "text", "action"].map { message[$0]?.string ?? "–" }
    }

    private static func row(_ condition: JSON) -> [String] {
        let name = condition["condition"]?.string ?? ""
        let vendor = condition["identity"]?["vendor"]?.string ?? ""
        let since = condition["since"]?.string ?? "–"
        return [mark(condition), name, vendor, since, condition["text"]?.string ?? ""]
    }

    /// ok: met; ×: prevents a push; !: not met, but prevents nothing; ?: not known.
    private static func mark(_ condition: JSON) -> String {
        guard let isMet = condition["met"]?.bool else { return "?" }
        return isMet ? "ok" : condition["blocks"]?.bool == true ? "×" : "!"
    }
}
