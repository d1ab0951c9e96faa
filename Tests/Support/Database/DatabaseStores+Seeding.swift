package import Model
package import Store

// The data that tests write before the part they test. This is the only place outside PostgresTests that uses the
// stores' operations.
extension DatabaseStores {
    /// Registers devices of a vendor's app, in one transaction.
    package func register(_ devices: [SeededDevice], scope: AppScope, in tenant: TenantID) async throws {
        let at = try await now()
        let requests = devices.map { device in
            StoreRequest(
                RegisterDevice(
                    scope,
                    key: device.key,
                    device.registration,
                    identity: device.identity,
                    device: device.device,
                    at: at
                )
            )
        }
        _ = try await commands.run(StoreRequest.all(requests), in: tenant)
    }

    /// Accepts a message unchanged, with its slices.
    package func accept(_ message: NewMessage, in tenant: TenantID) async throws {
        _ = try await commands.run(AcceptMessage(message), in: tenant)
    }
}

/// A device that an app registers under its vendor's key, with the ids it gets.
package struct SeededDevice: Sendable {
    package var key: VendorDeviceKey
    package var identity: IdentityID
    package var device: DeviceID
    package var registration: DeviceRegistration

    package init(
        key: VendorDeviceKey,
        identity: IdentityID,
        device: DeviceID,
        registration: DeviceRegistration
    ) {
        self.key = key
        self.identity = identity
        self.device = device
        self.registration = registration
    }
}
