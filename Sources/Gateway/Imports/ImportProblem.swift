/// The reason why an import cannot start or continue, as a sentence with advice.
package struct ImportProblem: Error, CustomStringConvertible {
    package var description: String
    /// Whether the file or an option is wrong.
    package var isUsage: Bool

    init(_ description: String, isUsage: Bool = false) {
        self.description = description
        self.isUsage = isUsage
    }
}
