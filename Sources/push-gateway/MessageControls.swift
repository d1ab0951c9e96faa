import ArgumentParser
import CommandSupport
import Commands
import Foundation
import Gateway
import Model
import NativeHTTP
import Store

/// Subcommands that steer a message.
extension MessageCommand {
    struct Pause: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send nothing more of a message until it is resumed; what is on its way ends within seconds.",
            discussion: "Its expiry goes on: what still waits then is written off as expired."
        )
        @OptionGroup var message: MessageOptions
        func run() async throws { try await message.control(.pause) }
    }

    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Go on with a paused message.")
        @OptionGroup var message: MessageOptions
        func run() async throws { try await message.control(.resume) }
    }

    struct Requeue: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Try anew what gave up of a message.",
            discussion: "'message show' says why it gave up. Devices that have an outcome are not pushed again."
        )
        @OptionGroup var message: MessageOptions
        func run() async throws { try await message.control(.requeue) }
    }

    struct Cancel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Cancel what is not sent yet of a message.")
        @OptionGroup var message: MessageOptions
        func run() async throws { try await message.control(.cancel) }
    }
}

/// Which message, and where it is.
struct MessageOptions: ParsableArguments {
    @Argument(help: "The message's id, or the vendor's own number.") var id: String
    @Option(help: "The tenant.") var tenant: String
    @Flag(help: "Print JSON.") var json = false
    @OptionGroup var common: CommonOptions

    /// Steers it and shows what became of it. Exit code 1: nothing was changed.
    func control(_ control: MessageControl) async throws {
        let tenant = TenantID(tenant)
        let (before, after, isChanged) = try await common.withDatabase { _, database in
            let queries = PostgresQueryStore(call: database.call)
            guard let before = try await queries.message(id, in: tenant) else {
                throw CommandFailure("message \(control.rawValue): tenant '\(tenant)' has no message '\(id)'")
            }
            let request = ControlRules.control(
                control,
                before.id,
                AppScope(app: before.scope.app, vendor: .native),
                by: AuditActor.command(user: getuid()).description
            )
            let isChanged = try await database.commands.run(request, in: tenant)
            guard let after = try await queries.message(before.id.description, in: tenant) else {
                throw CommandFailure("message \(control.rawValue): '\(id)' is gone")
            }
            return (before, after, isChanged)
        }
        if json {
            Console.print(NativeShapes.controlled(after, isChanged))
        } else {
            Console.print("message \(after.id): \(before.state.rawValue) → \(after.state.rawValue)")
        }
        guard isChanged else {
            throw CommandFailure(
                "message \(control.rawValue): nothing to do for a message that is \(before.state.rawValue)"
            )
        }
    }
}
