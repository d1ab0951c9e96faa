/// The failure of a command, as a sentence with advice.
struct CommandFailure: Error, CustomStringConvertible {
    var description: String
    var isUsage = false

    init(_ description: String, isUsage: Bool = false) {
        self.description = description
        self.isUsage = isUsage
    }
}
