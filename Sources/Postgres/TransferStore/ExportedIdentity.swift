package import Store

/// An identity with its device and the further facts of an export.
package struct ExportedIdentity: Sendable, Hashable {
    package var device: DeviceFacts
    package var identity: IdentityEntry
    package var facts: ExportedFacts
}
