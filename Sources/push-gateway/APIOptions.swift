import ArgumentParser
import CommandSupport
import Foundation
import Model

/// Options of commands that use a running gateway's native API.
struct APIOptions: ParsableArguments {
    @Option(help: "The gateway's URL.") var url = "http://127.0.0.1:8080"
    @Flag(help: "Print the answer as JSON.") var json = false

    /// Calls an operation. Failure messages begin with the name `command`.
    ///
    /// - Returns: the answer's body.
    /// - Throws: `CommandFailure` without an API key and for any unsuccessful answer.
    @discardableResult
    func call(
        _ command: String,
        _ method: String,
        _ path: String,
        _ body: JSON? = nil,
        headers: [String: String] = [:]
    ) async throws -> JSON {
        try await answer(command, method, path, body, headers: headers).json ?? [:]
    }

    /// As `call`, with an answer of any type.
    ///
    /// - Throws: `CommandFailure` without an API key and for any unsuccessful answer.
    func answer(
        _ command: String,
        _ method: String,
        _ path: String,
        _ body: JSON? = nil,
        headers: [String: String] = [:]
    ) async throws -> HTTPCaller.Answer {
        let key = try key(command)
        let answer: HTTPCaller.Answer
        do {
            answer = try await HTTPCaller(base: url).closing { client in
                try await client.call(method, path, body, headers: headers, bearer: key)
            }
        } catch {
            throw CommandFailure("\(command): the gateway at \(url) cannot be reached: \(error)")
        }
        try Self.check(answer, command)
        return answer
    }

    /// The API key.
    ///
    /// - Throws: `CommandFailure` if there is none.
    func key(_ command: String) throws -> String {
        guard let key = ProcessInfo.processInfo.environment["PUSH_GATEWAY_KEY"] else {
            throw CommandFailure(
                "\(command): set PUSH_GATEWAY_KEY to an API key (push-gateway key create)",
                isUsage: true
            )
        }
        return key
    }

    /// - Throws: `CommandFailure` for an unsuccessful answer.
    static func check(_ answer: HTTPCaller.Answer, _ command: String) throws {
        guard !(200..<300).contains(answer.status) else { return }
        let detail = answer.json?["detail"]?.string ?? answer.text
        let code = answer.json?["code"]?.string.map { " (\($0))" } ?? ""
        throw CommandFailure("\(command): the gateway answered \(answer.status)\(code): \(detail)")
    }

    /// Gets an answer, and prints it as CSV if that was asked for, otherwise as `show` does.
    ///
    /// - Throws: as `answer`.
    func show(_ command: String, _ path: String, isCSV: Bool, _ text: (JSON) -> String) async throws {
        let answer = try await answer(command, "GET", path)
        if isCSV {
            Console.print(answer.text.trimmingCharacters(in: .newlines))
        } else {
            show(answer.json ?? [:], text)
        }
    }

    /// Prints an answer as JSON, or as the text that `text` returns.
    func show(_ answer: JSON, _ text: (JSON) -> String) { json ? Console.print(answer) : Console.print(text(answer)) }
}

/// An argument that is a JSON object.
struct JSONArgument: ExpressibleByArgument {
    let object: JSONObject

    init?(argument: String) {
        guard let object = (try? JSONParser.parse(argument))?.object else { return nil }
        self.object = object
    }
}

/// The audience of a command.
struct AudienceOptions: ParsableArguments {
    @Option(help: "A phone number; may be repeated.") var phone: [String] = []
    @Option(help: "A user id; may be repeated.") var user: [String] = []
    @Option(help: "A device id; may be repeated.") var device: [String] = []
    @Option(help: "A group of users; may be repeated.") var group: [String] = []
    @Option(help: "A tag expression, such as 'seoul && !quiet'.") var tags: String?
    @Flag(help: "Every device of the app.") var everyone = false

    private var kinds: Int {
        [everyone, tags != nil, !group.isEmpty, !user.isEmpty, !(phone + device).isEmpty].count { $0 }
    }

    /// - Throws: `ValidationError`, also for an empty audience if `isRequired`.
    func check(isRequired: Bool = true) throws {
        guard kinds > 0 || !isRequired else {
            throw ValidationError("give the audience: --phone, --device, --user, --group, --tags or --everyone")
        }
        guard kinds <= 1 else {
            throw ValidationError(
                "--user, --group, --tags and --everyone cannot be combined; --phone and --device can"
            )
        }
    }

    /// The field `to` of a call; nil for an empty audience.
    var json: JSON? {
        guard kinds > 0 else { return nil }
        var to = JSONObject()
        if everyone { to["everyone"] = true }
        to["tags"] = tags.map { .string($0) }
        for (name, values) in [("phones", phone), ("users", user), ("devices", device), ("groups", group)]
        where !values.isEmpty { to[name] = .array(values.map { .string($0) }) }
        return .object(to)
    }
}
