package import Commands
import DeliveryEngine
import Model
import Store

extension Database {
    /// The handler for writes by the program's commands. It has no delivery engine, and its clock is not the database's, so it sends nothing.
    package var commands: CommandHandler {
        CommandHandler(
            store: OperationStore(call: call, node: "cli"),
            clock: DatabaseClock(),
            identifiers: SystemIdentifiers(),
            node: nil
        )
    }
}
