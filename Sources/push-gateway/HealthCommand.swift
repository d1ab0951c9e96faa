import ArgumentParser
import CommandSupport

/// `health`: asks a running node, for health checks of containers, which contain no other program.
struct HealthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Ask the node on this machine whether it serves.",
        discussion:
            "The status is 1 if it does not. Meant for the health check of a container, which has no shell and no other program."
    )

    @Option(help: "The URL of the node's admin listener.") var url = "http://127.0.0.1:8081"
    @Flag(help: "Ask only whether the process answers, not whether it reaches its database.") var live = false

    func run() async throws {
        let answer: HTTPCaller.Answer
        do {
            answer = try await HTTPCaller(base: url).closing { try await $0.call("GET", live ? "/healthz" : "/readyz") }
        } catch {
            throw CommandFailure("health: the node at \(url) cannot be reached: \(error)")
        }
        guard answer.status == 200 else {
            throw CommandFailure("health: the node answered \(answer.status): \(answer.text)")
        }
        Console.print("ok")
    }
}
