"""Whether the properties of operations are sent: absences that a fold finds, and what is sent now."""
