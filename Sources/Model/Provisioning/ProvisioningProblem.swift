/// An error in a provisioning file, with its path: `tenants[0].apps[1].platforms.ios.topic`.
package struct ProvisioningProblem: Error, CustomStringConvertible, Hashable {
    /// Empty for the whole file.
    package var path: String
    package var problem: String

    package init(path: String, problem: String) {
        self.path = path
        self.problem = problem
    }

    package var description: String { path.isEmpty ? problem : "\(path): \(problem)" }
}
