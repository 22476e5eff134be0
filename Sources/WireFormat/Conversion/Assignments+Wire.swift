import CRDT
import FoundationEssentials
import Replication

extension WireAssignments {
    init(_ statements: [Assignment]) throws {
        self.init()
        self.statements = statements.map(WireAssignment.init)
        try checkCount()
    }

    func checkedStatements() throws -> [Assignment] {
        try checkCount()
        return try statements.map { try $0.statement() }
    }

    private func checkCount() throws {
        guard statements.count <= ProtocolLimits.assignmentsPerMessage else {
            throw WireFormatError.tooManyEntries(.assignments, count: statements.count)
        }
    }
}

extension WireAssignment {
    fileprivate init(_ statement: Assignment) {
        self.init()
        content = Data(statement.content)
        signature = Data(statement.signature)
        certificates = statement.certificates.map { Data($0) }
    }

    fileprivate func statement() throws -> Assignment {
        let statement = try? Assignment(
            content: [UInt8](content), signature: [UInt8](signature), certificates: certificates.map { [UInt8]($0) })
        guard let statement else { throw WireFormatError.malformedAssignment }
        return statement
    }
}
