package import Commands
import DeliveryEngine
import Model
import Store

extension Database {
    /// The handler of the acts of the program's commands. It has no delivery engine, and its clock is not that of the database, so it sends nothing.
    package var commands: CommandHandler {
        CommandHandler(
            store: OperationStore(call: call, node: "cli"),
            clock: DatabaseClock(),
            identifiers: SystemIdentifiers(),
            node: nil
        )
    }
}
