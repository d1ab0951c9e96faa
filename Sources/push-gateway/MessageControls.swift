import AnswerShapes
import ArgumentParser
import CommandSupport
import Commands
import Foundation
import Gateway
import Model
import Store

/// Subcommands that control a message.
extension MessageCommand {
    struct Approve: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Approve a message that awaits an approval.",
            discussion: "'message cancel' rejects it. The audit names the account, and the person if --by is given."
        )
        @OptionGroup var message: MessageOptions
        func run() async throws { try await message.control(.approve) }
    }

    struct Pause: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Pause a message until it is resumed; pushes in flight end within seconds.",
            discussion: "The expiry still applies: deliveries that are waiting at that time become expired."
        )
        @OptionGroup var message: MessageOptions
        func run() async throws { try await message.control(.pause) }
    }

    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Resume a paused message.")
        @OptionGroup var message: MessageOptions
        func run() async throws { try await message.control(.resume) }
    }

    struct Requeue: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Retry the parts of a message that the gateway stopped trying.",
            discussion: "'message show' shows the reasons. Devices that have an outcome receive no further push."
        )
        @OptionGroup var message: MessageOptions
        func run() async throws { try await message.control(.requeue) }
    }

    struct Cancel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Cancel the deliveries of a message that are not sent yet."
        )
        @OptionGroup var message: MessageOptions
        func run() async throws { try await message.control(.cancel) }
    }
}

/// Selects a message.
struct MessageOptions: ParsableArguments {
    @Argument(help: "The message's id, or the vendor's own number.") var id: String
    @Option(help: "The tenant.") var tenant: String
    @Flag(help: "Print JSON.") var json = false
    @OptionGroup var common: CommonOptions

    /// Applies the control and shows the result. Exit code 1: nothing was changed.
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
                by: common.actor.description
            )
            let isChanged = try await database.commands.run(request, in: tenant)
            guard let after = try await queries.message(before.id.description, in: tenant) else {
                throw CommandFailure("message \(control.rawValue): '\(id)' does not exist")
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
